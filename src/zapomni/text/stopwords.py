"""Stop words: words too common to tell one memory from another, Russian and English, as `fold` leaves them.

Only queries lose them, and only when another word remains. The lists are those that gave LoCoMo six points of
recall@5 (embedders.md, section 2), but for the single Latin letters of clipped forms: `words` strips those itself, so
`vitamin D` and `R` can be asked for. The last lines of the Russian list are further forms of its pronouns and of
`мочь`, by which short prompts brought what they do not speak of; forms of `другой`, `один` and `являться` stay words,
for without them a few questions of DaNetQA and XQuAD lost their answer.
"""

from __future__ import annotations

from typing import Final

_ENGLISH: Final = """
a an the of to in on at for and or but is are was were be been being am do does did done have has had having what
which who whom whose when where why how that this these those it its he she they we you i me my your his her their
our us him them with from by as about into over after before than then so if not no nor can could would will shall
should may might must there here also just any some such own same very too
don doesn didn isn aren wasn weren haven hasn hadn wouldn couldn shouldn
"""

_RUSSIAN: Final = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще
нет о из ему теперь когда даже ну вдруг ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом
себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под
будет ж тогда кто этот того потому этого какой какая какое какие каком какого какую каких какими совсем ним здесь
этом один почти мой тем чтобы нее сейчас были куда зачем всех никогда можно при наконец два об другой хоть после над
больше тот через эти нас про всего них много разве три эту моя впрочем хорошо свою этой перед иногда лучше чуть том
нельзя такой им более всегда конечно всю между это сколько который которая которое которые которых которой которому
из-за из-под кто-то что-то где-то когда-то как-то кто-нибудь что-нибудь где-нибудь и/или
весь вся всей всем всеми свой своя свое свои своего своей своему своим своими своих своем мое мои моего моей моему
моим моими моих моем твой твоя твое твои твоего твоей твоему твою твоим твоими твоих твоем наш наша наше наши нашего
нашей нашему нашу нашим нашими наших нашем ваш ваша ваше ваши вашего вашей вашему вашу вашим вашими ваших вашем эта
этим этими этому та те тех теми ту тому такая такие такое такого таком такому такую таким такими таких само сами
самого самой самом самому самим самими самих самый самая самое самые самую самым самыми самых каким какому котором
которым которыми кого кому кем ком чему нам нами вами им ими нем мной тобой тебе собой буду будешь будем будете будут
будь быть могу можешь может можем можете могут мог могла могло могли почему откуда очень также либо чей чья чье чьи ко
обо среди кроме около поэтому однако затем лишь именно оба обе
"""

STOP_WORDS: Final = frozenset(_ENGLISH.split() + _RUSSIAN.split())
"""All of them in one set."""
