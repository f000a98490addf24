import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text import secrets
from zapomni.text.secret_shapes import LITERALS, SHAPES
from zapomni.text.secrets import redact

_dice = random.Random(5)


def made(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(_dice.choice(letters) for _ in range(length))


HEX = "0123456789abcdef"
# Put together from pieces, so that no scanner takes this file for a leak.
KEYS = [
    ("aws-key-id", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("github", "ghp_" + made(36)),
    ("github", "github_pat_" + made(22) + "_" + made(59)),
    ("gitlab", "glpat-" + made(20)),
    ("slack", "xoxb-" + "123456789012-1234567890123-" + made(24)),
    ("slack-webhook", "https://hooks.slack.com/services/" + "T00000000/B00000000/" + made(24)),
    ("discord-webhook", "https://discord.com/api/webhooks/" + "123456789012345678/" + made(68)),
    ("stripe", "sk_live_" + made(24)),
    ("anthropic", "sk-ant-" + "api03-" + made(90)),
    ("openai", "sk-proj-" + made(48)),
    ("openai", "sk-" + "a1" + made(46)),
    ("huggingface", "hf_" + made(34)),
    ("npm", "npm_" + made(36)),
    ("pypi", "pypi-" + "AgEIcHlwaS5vcmc" + made(60)),
    ("telegram", "123456789" + ":AA" + made(33)),
    ("twilio", "SK" + made(32, HEX)),
    ("sendgrid", "SG." + made(22) + "." + made(43)),
    ("google-key", "AIza" + made(35)),
    ("google-oauth", "GOCSPX-" + made(28)),
    ("azure-storage", "AccountName=a;AccountKey=" + made(86) + "==;EndpointSuffix=core"),
    ("azure-client", "abc" + "8Q~" + made(34)),
    ("digitalocean", "dop_v1_" + made(64, HEX)),
    ("databricks", "dapi" + made(32, HEX)),
    ("vault", "hvs." + made(30)),
    ("yandex", "AQVN" + made(36)),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + made(43)),
    ("age-key", "AGE-SECRET-KEY-1" + made(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
    ("private-key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"),
    ("private-key", '"private_key": "-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n"'),
    ("private-key", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk"),
    ("private-key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n-----END PGP PRIVATE KEY BLOCK-----"),
    ("authorization", "Authorization: Basic dXNlcjpwYXNzd29yZA=="),
    ("authorization", "curl -H 'Authorization: Bearer abcdef123456'"),
    ("bearer", "use Bearer 1" + made(24)),
    ("curl-user", "curl -u admin:hunter2 https://x"),
    ("url-password", "postgres://app:s3cr3t@db.local:5432/x"),
    ("url-password", "redis://:hunter@10.0.0.1"),
    ("url-password", "https://user:p@ss@host/x"),
    ("mysql-password", "mysql -u root -pS3cretPass"),
    ("mysql-password", "mysqldump -h db -p'S3cretPass' shop"),
    ("aws-secret", "aws secret " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("aws-secret", "AWS ключ: " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("sshpass", "sshpass -p 'my Pass' ssh ada@host"),
    ("sshpass", "sshpass -p Hunter22 ssh ada@host"),
    ("hex-key", "private key 0x" + made(64, HEX)),
    ("hex-key", "приватный ключ: " + made(64, HEX)),
    ("card", "4111 1111 1111 1111"),
    ("card", "5555-5555-5555-4444"),
    ("card", "2200000000000004"),
    ("card", "378282246310005"),
    ("random", "the value is Zq3" + made(40)),
    ("random", "DEPOT_SEED=Zq3/" + made(40)),
]
ASSIGNED = [
    ("password: hunter2", "hunter2"),
    ("Password = 'correcthorse'", "correcthorse"),
    ("PASSWORD=letmein", "letmein"),
    ("DB_PASSWORD=Zx9!kq", "Zx9!kq"),
    ("**Password:** `hunter2`", "hunter2"),
    ('{"password": "hunter2!"}', "hunter2!"),
    ('{\\"password\\":\\"hunter2\\"}', "hunter2"),
    ("Server=x;User Id=sa;Password=P@ssw0rd;", "P@ssw0rd"),
    ("password is hunter2", "hunter2"),
    ("--password hunter2", "hunter2"),
    ("--db-password=abcdefg", "abcdefg"),
    ("pwd=1234", "1234"),
    ("пароль: qwerty123", "qwerty123"),
    ("Пароль от вайфая: Zx9k2mm", "Zx9k2mm"),
    ("пароль — Котик2024.", "Котик2024"),
    ("пароль: 123456", "123456"),
    ("пароль - Qwerty12345", "Qwerty12345"),
    ("Пароль от вайфая кот12345", "кот12345"),
    ("Пароль от вайфая кот12345, роутер в коридоре", "кот12345"),
    ("Пароль от стенда Hunter2Secret!", "Hunter2Secret!"),
    ("Пароль от второго стенда Hunter2Secret. Потом спросить.", "Hunter2Secret"),
    ("the password for staging Hunter2Secret\nask Ada", "Hunter2Secret"),
    ("пароль Qwerty12345", "Qwerty12345"),
    ("секрет: мой-секрет-99", "мой-секрет-99"),
    ("токен: 9f3c2ab7d1e04c55a6b1", "9f3c2ab7d1e04c55a6b1"),
    ("token: 550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
    ("secret=a8f5f167f44f4964e6c998dee827110c", "a8f5f167f44f4964e6c998dee827110c"),
    ("api_key: 'k9d8f7g6h5j4'", "k9d8f7g6h5j4"),
    ("X-Api-Key: 7h3k9x2m4p", "7h3k9x2m4p"),
    ("smtp_pass: hunter2xyz", "hunter2xyz"),
    ("db_pass=hunter2", "hunter2"),
    ('DB_PASS: "correcthorse"', "correcthorse"),
    ("pass: Qwerty123", "Qwerty123"),
    ("секретный ключ: 7Hf9kLm2Qx", "7Hf9kLm2Qx"),
    ('JWT_SECRET="my-super-secret-key-2024"', "my-super-secret-key-2024"),
    ("sessionid=a8f5f167f44f4964e6c998de", "a8f5f167f44f4964e6c998de"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
]
HARMLESS = [
    "password: see the vault", "token budget is 2000", "пароль хранится в сейфе", "max_tokens: 4096", "tokens=4096",
    "token: refresh", "password: required!", 'password: "required"', "пароль: в 1Password", "пароль = None",
    "commit 9f3c2ab7d1e04c55a6b1f0d2e8c7714300aa91be", "Job 550e8400-e29b-41d4-a716-446655440000",
    "/home/user/project/src/zapomni/store/sqlite/Migrations2/v12Schema.py",
    "refreshTokenVaultForSilentSignOut2AndMoreStuff", "BM25FullTextSearchIndexWithTrigramTokenizerV2",
    "com.example.project.internal.ServiceImplementationFactory2", "the-quick-brown-fox-jumps-over-the-lazy-dog-42",
    "sha256:e3b0c44298fc1c149afc7ee0c7c3b5e1d1f8e2a0a1b2c3d4e5f60718293a4b5c", "sha512-Zq3" + made(83) + "==",
    "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC" + made(60) + " me@host", "-----BEGIN PUBLIC KEY-----",
    "Привет, это просто длинный русский текст без секретов и с-длинными-дефисными-конструкциями-вообще",
    "postgres://$USER:$PASS@host", "password: ${DB_PASSWORD}", "password=<your password>", "password = os.environ['X']",
    "token: QX-4471", "secret: k8s-secret-name-1", "password hash is argon2id", "password changed on release: v2.3.1",
    "the api key is in 1Password", "use bearer authentication everywhere please", "monkey: abc123def456",
    "secretName: db-creds-2", "tokenizer: cl100k_base_x1", "sk-learn-compatible-estimators-are-great", "key: value",
    "see https://example.com:8080/path@x", "http://localhost:8080/a@b", "git@github.com:foo/bar.git",
    "секрет: в том, что мы всё делаем сами", "токен живёт 15 минут", "ключ доступа: у Марины", "secret santa: 2024",
    "Пароль от стенда лежит в сейфе", "пароль от сервера db01.example.com", "Пароль от роутера TL-WR841N лежит в столе",
    "сброс пароля TASK-12345", "password reset for user42", "password for qa-stand-01", "пароль от почты ada2024@mail.ru",
    "password OAuth2Provider", "order 4111111111111112", "+7 916 123-45-67", "8 (916) 123-45-67", "1764490500000000",
    "https://shop.example/orders/4111111111111111", "0.4111111111111111", "mkdir -pv /a/b", "ssh -p 2222 host",
    "mysql -u root -p", "mysql --port 3306 -h db", "mysql -u root --password", "mysql wants -prefix before it",
    "aws key rotation at commit 9f3c2ab7d1e04c55a6b1f0d2e8c7714300aa91be",
    "http://host:8080@v2", "mailto://a:b@c.d", "postgres://user:password@localhost", "password: same-as-in-staging2",
    "second pass: 120ms", "compass: abcdef123", "first pass: QX-4471", "pass=failed", "private key is id_ed25519",
    "private key sha256: " + made(64, HEX), "sshpass -p shows it to everyone", "session_id: 550e8400-e29b-41d4-a716-446655440000",
    "docker run -u 1000:1000 img", "token: sha256", "public tag </private> alone", "put it into `<private>` tags, always", "xoxb-your-slack-token",
]  # fmt: skip


@pytest.mark.parametrize(("rule", "text"), KEYS, ids=lambda value: value[:12])
def test_known_keys_are_cut_out(rule: str, text: str) -> None:
    cleaned, rules = redact(f"before {text} after")
    assert rules == (rule,)
    assert f"[REDACTED:{rule}]" in cleaned
    assert cleaned.startswith("before ")
    assert text not in cleaned


@pytest.mark.parametrize(("text", "secret"), ASSIGNED)
def test_an_assigned_secret_goes_and_its_name_stays(text: str, secret: str) -> None:
    cleaned, rules = redact(text)
    assert secret not in cleaned
    assert cleaned == text.replace(secret, f"[REDACTED:{rules[0]}]")


@pytest.mark.parametrize("text", HARMLESS)
def test_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a <private>my\nstuff</private> b", "a [REDACTED:private] b"),
        ("a <PRIVATE>x</Private> b <private>y</private>", "a [REDACTED:private] b [REDACTED:private]"),
        ("a <private>the rest\nof it", "a [REDACTED:private]"),
        ("a <private>b<private>c</private>d</private> e", "a [REDACTED:private] e"),
        ("a <private>b<private>c</private>d e", "a [REDACTED:private]"),
        ("a</private> <private>b</private> </private>c", "a</private> [REDACTED:private] </private>c"),
    ],
)
def test_private_blocks_go_whole_and_an_unclosed_one_to_the_end(text: str, cleaned: str) -> None:
    assert redact(text) == (cleaned, ("private",))


def test_several_secrets_of_one_text_all_go() -> None:
    text, rules = redact("password: hunter2, пароль: qwerty123 and ghp_" + "a1" * 18)
    assert text == "password: [REDACTED:password], пароль: [REDACTED:password] and [REDACTED:github]"
    assert rules == ("github", "password")


def test_every_literal_of_a_shape_can_occur_in_it_and_every_pattern_compiles() -> None:
    assert all(shape.literals and shape.pattern for shape in SHAPES)


FRAGMENTS = st.sampled_from(
    ["password", "пароль", ": ", "=", " is ", "token", '"', "'", "<private>", "</private>", "://", "a:b@", "Bearer ", "İ",
     "hunter2", "ghp_" + "a1" * 18, "eyJabcdefgh1.", "[REDACTED:x]", "-----BEGIN PRIVATE KEY-----", "\n", " ", "Aa1" * 12]
)  # fmt: skip


@given(st.lists(FRAGMENTS | st.text(st.characters(), max_size=5), max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once, rules = redact(text)
    assert redact(once) == (once, ())
    assert bool(rules) == (once != text)


@pytest.mark.parametrize(
    "unit", ["a", "password ", "password: ", "<private>", "-----BEGIN PRIVATE KEY-----", "eyJ", "://a:", "Aa1", "curl ", "bearer ",
             "password is ", "api key for a b c ", "SG.a", "1", "authorization:  ", "/", "t1.a",
             "mysql -", "mysql a -p", "aws key", "aws ", "пароль от а ", "пароль a1", "4111 ", "4111111111111112 "],
)  # fmt: skip
def test_no_text_makes_it_slow(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    start = time.perf_counter()
    redact(text)
    assert time.perf_counter() - start < 5


def test_a_text_without_any_stem_holds_no_name_and_every_literal_is_found_by_its_sign() -> None:
    names = [name for group, _, _ in secrets._ASSIGNED for name in group]
    assert [name for name in names if not any(stem in name for stem in secrets._STEMS)] == []
    grouped = sorted((at, literal) for sign, pairs in LITERALS.items() for literal, at in pairs if sign in literal)
    assert grouped == sorted((at, literal) for at, shape in enumerate(SHAPES) for literal in shape.literals)


def test_no_literal_of_a_shape_holds_white_space() -> None:
    assert not [literal for shape in SHAPES for literal in shape.literals if literal.split() != [literal]]


PIECES = st.sampled_from(
    [
        *(key for _, key in KEYS),
        "pass",
        "пароль",
        "от",
        "стенда",
        "Qwerty12345",
        "Bearer",
        "-----BEGIN",
        "PRIVATE",
        "KEY",
        *("4111", "1111", "мой", "tea,", "with", "milk."),
    ]
)


@given(st.lists(PIECES | st.text(max_size=8)), st.sampled_from([" ", "\n", "\u3000"]))
def test_every_rule_sees_a_text_that_its_shortcut_lets_pass(pieces: list[str], gap: str) -> None:
    text = gap.join(pieces)
    told = f"< {text}"  # no text with this sign takes the shortcut
    assert redact(told) == (f"< {redact(text)[0]}", redact(text)[1])
