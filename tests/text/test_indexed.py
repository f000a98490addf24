from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zapomni.model import Draft
from zapomni.text.fold import digest
from zapomni.text.indexed import found_by
from zapomni.text.words import index_words

LIVELY = st.text(st.sampled_from(list("aBcZ019 .-_/:@#\n«»№ёйЁЖ猫กかा🚀\u00a0\u2003\u200b¨ﬁ")), max_size=60)


@given(LIVELY | st.text(), LIVELY)
def test_a_memory_is_found_by_the_digest_of_its_content_and_the_words_of_its_fields(content: str, title: str) -> None:
    found = found_by(Draft(content=content, title=title, tags=("ветка", "v2")))
    assert found.digest == digest(content)
    assert found.words == index_words(title="\n".join(filter(None, (title, "ветка", "v2"))), body=content)
