"""The shapes of known secrets: keys that can be told by their first letters.

Sources: the documented token formats of each service, and the public rule sets of gitleaks and detect-secrets.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from msgspec import Struct


class Shape(Struct, frozen=True, dict=True):
    """One rule: its name, literals one of which every match holds, and the pattern.

    The pattern is looked for only in a text with one of the literals, and compiled then; a literal holds no white
    space, so that it stands in one run of the text if it stands there at all. The secret is the
    group `secret` if the pattern has one, else all of it. Every repetition that can fail is bounded, so that
    no text makes a search slow.
    """

    name: str
    literals: tuple[str, ...]
    source: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.source)


_KEY: Final = r"[A-Za-z0-9_-]"

SHAPES: Final = (
    Shape(
        "private-key",
        ("PRIVATE",),
        r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    Shape("putty-key", ("PuTTY-User-Key-File",), r"(?s)PuTTY-User-Key-File-\d.*?(?:Private-MAC: [0-9a-f]+|\Z)"),
    Shape("age-key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58,}"),
    Shape("aws-key-id", ("AKIA", "ASIA", "ABIA", "ACCA"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    Shape("google-key", ("AIza",), rf"\bAIza{_KEY}{{35}}"),
    Shape("google-oauth", ("ya29.", "GOCSPX-"), rf"\b(?:ya29\.[A-Za-z0-9._-]{{20,}}|GOCSPX-{_KEY}{{20,}})"),
    Shape("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{30,}"),
    Shape("github", ("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{22,}"),
    Shape("gitlab", ("glpat-", "gldt-", "glrt-", "glptt-", "glsoat-"), rf"\bgl(?:pat|dt|rt|ptt|soat)-{_KEY}{{20,}}"),
    Shape("slack", ("xox", "xapp-"), r"\b(?:xox[abeoprs]|xapp)-(?=[A-Za-z.-]{0,9}\d)[A-Za-z0-9.-]{10,}"),
    Shape("slack-webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/[a-z]+/(?P<secret>[A-Za-z0-9/_-]{20,})"),
    Shape("discord-webhook", ("/api/webhooks/",), rf"/api/webhooks/\d+/(?P<secret>{_KEY}{{40,}})"),
    Shape("stripe", ("k_live_", "k_test_"), r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    Shape("stripe-webhook", ("whsec_",), r"\bwhsec_[A-Za-z0-9+/=]{20,}"),
    Shape("anthropic", ("sk-ant-",), rf"\bsk-ant-{_KEY}{{16,}}"),
    Shape(
        "openai",
        ("sk-",),
        rf"\bsk-(?:proj|svcacct|admin|None|or-v1|lf)-{_KEY}{{16,}}|\bsk-(?=[A-Za-z]*\d)[A-Za-z0-9]{{20,}}",
    ),
    Shape("huggingface", ("hf_", "api_org_"), r"\b(?:hf_|api_org_)[A-Za-z0-9]{30,}"),
    Shape("groq", ("gsk_",), r"\bgsk_[A-Za-z0-9]{40,}"),
    Shape("xai", ("xai-",), r"\bxai-[A-Za-z0-9]{40,}"),
    Shape("jina", ("jina_",), rf"\bjina_[0-9a-f]{{32}}{_KEY}{{20,}}"),
    Shape("npm", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}"),
    Shape("pypi", ("pypi-",), rf"\bpypi-{_KEY}{{50,}}"),
    Shape("docker", ("dckr_",), rf"\bdckr_(?:pat|oat)_{_KEY}{{20,}}"),
    Shape("telegram", (":A",), rf"\b\d{{8,10}}:A{_KEY}{{34}}(?!{_KEY})"),
    Shape("twilio", ("SK",), r"\bSK[0-9a-f]{32}\b"),
    Shape("sendgrid", ("SG.",), rf"\bSG\.{_KEY}{{16,64}}\.{_KEY}{{16,64}}"),
    Shape("mailgun", ("key-",), r"\bkey-[0-9a-f]{32}\b"),
    Shape("azure-storage", ("AccountKey=", "AccessKey="), r"A\w{3,6}Key=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    Shape("azure-client", ("8Q~",), r"\b[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,}"),
    Shape("azure-sas", ("sig=",), r"[?&]sig=(?P<secret>[A-Za-z0-9%+/=]{30,})"),
    Shape("digitalocean", ("_v1_",), r"\bdo[opr]_v1_[0-9a-f]{60,}"),
    Shape("shopify", ("shp",), r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    Shape("databricks", ("dapi",), r"\bdapi[0-9a-f]{32}"),
    Shape("grafana", ("glsa_", "glc_"), r"\bgl(?:sa|c)_[A-Za-z0-9+/=_]{32,}"),
    Shape("vault", ("hvs.", "hvb."), rf"\bhv[sb]\.{_KEY}{{24,}}"),
    Shape("linear", ("lin_api_",), r"\blin_api_[A-Za-z0-9]{32,}"),
    Shape("notion", ("ntn_", "secret_"), r"\b(?:ntn_|secret_)[A-Za-z0-9]{40,}"),
    Shape("supabase", ("sbp_",), r"\bsbp_[0-9a-f]{40}"),
    Shape("new-relic", ("NRAK-",), r"\bNRAK-[A-Z0-9]{27}"),
    Shape("atlassian", ("ATATT3",), rf"\bATATT3{_KEY}{{50,}}=?{_KEY}{{0,20}}"),
    Shape(
        "yandex", ("AQVN", "y0_", "t1."), rf"\bAQVN{_KEY}{{30,}}|\by[0-3]_{_KEY}{{40,}}|\bt1\.{_KEY}+\.{_KEY}{{80,}}"
    ),
    Shape("vk", ("vk1.a.",), rf"\bvk1\.a\.{_KEY}{{50,}}"),
    Shape("jwt", ("eyJ",), rf"(?:(?<![\w-])eyJ{_KEY}{{8,}}+|-eyJ{_KEY}{{8,512}}+)\.{_KEY}{{4,}}+(?:\.{_KEY}*){{1,3}}"),
    Shape(
        "url-password",
        ("://",),
        r"(?<!mailto)://[^\s/:@?#]{0,100}:(?P<secret>(?![$<{%*\[]|(?i:password|passwd|pass|pwd)@"
        r"|\d{2,5}@(?:v\d|latest\b|main\b|master\b))[^\s/]{1,256})@(?=[\w.\[-])",
    ),
    Shape(
        "authorization",
        ("uthorization", "UTHORIZATION"),
        r"(?i)authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|bearer|token|apikey|api-key|bot)\s{1,3}"
        r"(?P<secret>[A-Za-z0-9._~+/=:-]{8,})",
    ),
    Shape(
        "bearer",
        ("earer", "EARER"),
        r"(?i)\bbearer\s{1,3}(?P<secret>(?=[a-z_.~+/=-]{0,60}\d)[a-z0-9._~+/=-]{16,})",
    ),
    Shape(
        "mysql-password",
        ("mysql", "mariadb"),
        r"\b(?:mysql|mariadb)[\w-]{0,12}\s(?:[^\n]{0,200}?\s)?-p['\"]?"
        r"(?P<secret>(?=[a-z_-]{0,60}[^\sa-z_'\"-])(?![$<{%*(\[])[^\s'\"`]{4,64})",
    ),
    Shape(
        "sshpass",
        ("sshpass",),
        r"\bsshpass\s{1,3}-p\s{0,3}(?P<quote>['\"])?(?P<secret>(?![$<{%*(\[])"
        r"(?(quote)[^'\"\n]{1,128}(?=['\"])|(?=[a-z_-]{0,60}[^\sa-z_'\"-])[^\s'\"`]{4,64}))",
    ),
    Shape(
        "hex-key",
        ("rivate", "RIVATE", "риватн", "акрыт"),
        r"(?i)(?:private[ _-]?key|(?:приватн|закрыт)[а-я]{2,3} ключ[а-я]{0,2})[\s:=\"'`—-]{0,6}"
        r"(?P<secret>(?:0x)?[0-9a-f]{64})\b",
    ),
    Shape(
        "aws-secret",
        ("aws", "AWS", "Aws"),
        r"(?i:aws)[^\n]{0,40}?(?i:secret|key|секрет|ключ)[^\n]{0,20}?(?<![\w/+.-])"
        r"(?P<secret>(?=[A-Z0-9/+]{0,39}[a-z])(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Za-z/+]{0,39}[0-9])[A-Za-z0-9/+]{40})"
        r"(?![\w/+=-])",
    ),
    Shape(
        "curl-user", ("curl",), r"curl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?['\"]?[\w.@-]{1,64}:(?P<secret>[^\s'\"$]{4,})"
    ),
)
"""All of them, in the order in which they are looked for."""


def _by_sign() -> dict[str, tuple[tuple[str, int], ...]]:
    groups: dict[str, tuple[tuple[str, int], ...]] = {}
    for at, shape in enumerate(SHAPES):
        for literal in shape.literals:
            sign = next((char for char in literal if not char.islower()), "")
            groups[sign] = (*groups.get(sign, ()), (literal, at))
    return groups


LITERALS: Final = _by_sign()
"""Every literal with the place of its shape, by the first character in it that is no small letter: a text without
a `_` need not be searched for what holds one, and prose holds few of these signs."""
