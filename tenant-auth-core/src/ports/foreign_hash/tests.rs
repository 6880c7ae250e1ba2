use super::*;

/// Made with Python 3.11: bcrypt 5, argon2-cffi and hashlib; each of the password "correct horse battery".
const OF_OTHERS: [&str; 16] = [
    "$2b$06$T5r16lmVmHnQL5XO3.umcuiP83iRsh1pBV/d9TGjwF1MsINiFNNvG",
    "$2a$06$KzYU7kSNqPvy/KrlZut0EOC0n/sMFsD0TjmEwzTrIMWc2RiZr0hVy",
    "bcrypt$$2b$06$T5r16lmVmHnQL5XO3.umcuiP83iRsh1pBV/d9TGjwF1MsINiFNNvG",
    "$scrypt$ln=10,r=8,p=1$c2l4dGVlbiBieXRlcyBvaw$A553ShwI3q7HlAym+dsR6+Pd5TL9Gfv2k2WBH1f/Lpw",
    "scrypt:1024:8:1$wZt0qLdN$d325074b4f5474b30175a2f6a4e31c3968caef9cd80116d1dffc16a14a7029fabd18007bd573044e63f9ec0d606d6ade3697bdc97131054538f2a0a09d0024b8",
    "scrypt$1024$wZt0qLdN$8$1$0yUHS09UdLMBdaL2pOMcOWjK75zYARbR3/wWoUpwKfq9GAB71XMETmP57A1gbWreNpe9yXExBUU48qCgnQAkuA==",
    "$pbkdf2-sha256$i=1000$c2l4dGVlbiBieXRlcyBvaw$pSoC2VUDS0BVZIqmG5B64io7wMLf0qC6YiBWOAkxANM",
    "$pbkdf2-sha256$1000$c2l4dGVlbiBieXRlcyBvaw$pSoC2VUDS0BVZIqmG5B64io7wMLf0qC6YiBWOAkxANM",
    "pbkdf2_sha256$1000$wZt0qLdN$UFR17lE9rzZLWrj5qNrto6Vhl5vcsEXSxqlfiBIgFK4=",
    "pbkdf2:sha256:1000$wZt0qLdN$505475ee513daf364b5ab8f9a8daeda3a561979bdcb045d2c6a95f88122014ae",
    "$pbkdf2-sha512$i=1000$c2l4dGVlbiBieXRlcyBvaw$8pIGjYoUZDNxrNWbHDQlNZGiWXcEMWOS2TLAQhkILVWcgh6MZDyAHXxU70VwU1XrwNdnTN5UY5AfqKoNs1UhWw",
    "pbkdf2:sha512:1000$wZt0qLdN$85e50ec1f9f64b88531703fa5d8f7aabea3cc607244eeeba1b5c70ffee3e914fa8ed7e207ebdd9a1297bf71b6be20b303f273f82cf282f79841b99bfea1d7434",
    "$argon2id$v=19$m=64,t=2,p=1$c2l4dGVlbiBieXRlcyBvaw$6l+5b6xNgkpIVRAh2b57tbFCa6MezZlThsJN9gGMC8o",
    "$argon2i$v=19$m=64,t=2,p=1$c2l4dGVlbiBieXRlcyBvaw$FDYZRiNKPhj/9hxuSrmJeYhOP79weWNtZ7yagWU1eNk",
    "$argon2d$v=19$m=64,t=2,p=1$c2l4dGVlbiBieXRlcyBvaw$hf/E4SKZTHnUpHeULV59ajDYHAh3QLupp9+ZIQGCh+Q",
    "argon2$argon2id$v=19$m=64,t=2,p=1$c2l4dGVlbiBieXRlcyBvaw$6l+5b6xNgkpIVRAh2b57tbFCa6MezZlThsJN9gGMC8o",
];

/// The example in the description of Firebase's scrypt (github.com/firebase/scrypt).
const OF_FIREBASE: &str = "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==";

fn has(hash: &str, password: &str) -> bool {
    let parsed = ForeignHash::parse(hash).unwrap_or_else(|error| panic!("{hash}: {error}"));
    let stored = ForeignHash::of(&parsed.stored()).expect("what was stored is read again");
    assert_eq!(stored.cost(), parsed.cost());
    stored.matches(&Password::new(password)).expect("it is computed")
}

#[test]
fn hashes_of_other_systems_match_their_password_only() {
    for hash in OF_OTHERS {
        assert!(has(hash, "correct horse battery"), "{hash}");
        assert!(!has(hash, "correct horse batterz"), "{hash}");
        assert!(!has(hash, ""), "{hash}");
    }
    assert!(has(OF_FIREBASE, "user1password"));
    assert!(!has(OF_FIREBASE, "user2password"));
}

#[test]
fn bcrypt_reads_seventy_two_bytes() {
    let of_72_x = "$2b$06$d8QNoj8ExRB4j0VY/.WbWuiL.x5el56KANvs2DHSd7eXac8z2SYru";
    assert!(has(of_72_x, &"x".repeat(72)));
    assert!(has(of_72_x, &"x".repeat(80)), "as the system that made it");
    assert!(!has(of_72_x, &"x".repeat(71)));
}

#[test]
fn what_would_cost_more_than_a_login_may_is_refused() {
    let hash = "A553ShwI3q7HlAym+dsR6+Pd5TL9Gfv2k2WBH1f/Lpw";
    let at = |beginning: &str| format!("{beginning}$c2l4dGVlbiBieXRlcyBvaw${hash}");
    let bcrypt = |cost: u32| format!("$2b${cost:02}$T5r16lmVmHnQL5XO3.umcuiP83iRsh1pBV/d9TGjwF1MsINiFNNvG");
    for admitted in [
        at("$scrypt$ln=17,r=8,p=1"),
        at("$pbkdf2-sha256$i=2000000"),
        at("$argon2id$v=19$m=131072,t=4,p=1"),
        at("$argon2id$m=131072,t=4,p=1"),
        bcrypt(14),
    ] {
        ForeignHash::parse(&admitted).unwrap_or_else(|error| panic!("{admitted}: {error}"));
    }
    for dear in [
        at("$scrypt$ln=18,r=8,p=1"),
        at("$scrypt$ln=17,r=8,p=2"),
        at("$scrypt$ln=63,r=8,p=2"),
        at("$pbkdf2-sha256$i=2000001"),
        at("$argon2id$v=19$m=131073,t=1,p=1"),
        at("$argon2id$v=19$m=131072,t=5,p=1"),
        bcrypt(15),
        bcrypt(31),
        // Two blocks, each of them so many iterations.
        format!("pbkdf2:sha256:1000001$wZt0qLdN${}", "00".repeat(64)),
    ] {
        let refused = ForeignHash::parse(&dear).expect_err(&dear).to_string();
        assert!(refused.contains("more than a login may") || refused.contains("no well-formed"), "{dear}: {refused}");
    }
}

#[test]
fn what_is_no_whole_hash_is_refused_and_never_told() {
    for bad in [
        "",
        "secret-password",
        "$2b$06$short",
        "$2x$06$T5r16lmVmHnQL5XO3.umcuiP83iRsh1pBV/d9TGjwF1MsINiFNNvG",
        "$2b$03$T5r16lmVmHnQL5XO3.umcuiP83iRsh1pBV/d9TGjwF1MsINiFNNvG",
        "$2b$06$T5r16lmVmHnQL5XO3.umcuiP83iRsh1pBV/d9TGjwF1MsINiFNNv\u{e9}",
        "$argon2id$v=19$m=64,t=2,p=1$c2l4dGVlbiBieXRlcyBvaw$",
        "$argon2id$v=19$m=64,t=2,p=1,keyid=abcd$c2l4dGVlbiBieXRlcyBvaw$6l+5b6xNgkpIVRAh2b57tbFCa6MezZlThsJN9gGMC8o",
        "$argon2id$v=18$m=64,t=2,p=1$c2l4dGVlbiBieXRlcyBvaw$6l+5b6xNgkpIVRAh2b57tbFCa6MezZlThsJN9gGMC8o",
        "$scrypt$ln=10,r=8,p=1$c2l4dGVlbiBieXRlcyBvaw$",
        "$scrypt$ln=10,r=0,p=1$c2l4dGVlbiBieXRlcyBvaw$A553ShwI3q7HlAym+dsR6+Pd5TL9Gfv2k2WBH1f/Lpw",
        "$scrypt$ln=10,r=4294967295,p=4294967295$c2l4dGVlbiBieXRlcyBvaw$A553ShwI3q7HlAym+dsR6+Pd5TL9Gfv2k2WBH1f/Lpw",
        "scrypt:1000:8:1$wZt0qLdN$d325074b4f5474b30175a2f6a4e31c3968caef9cd80116d1",
        "$pbkdf2-sha256$i=0$c2l4dGVlbiBieXRlcyBvaw$pSoC2VUDS0BVZIqmG5B64io7wMLf0qC6YiBWOAkxANM",
        "pbkdf2:sha256:1000$wZt0qLdN$505475ee",
        "pbkdf2:md5:1000$wZt0qLdN$505475ee513daf364b5ab8f9a8daeda3",
        "$fbscrypt$v=2,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9A==",
        "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=AA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9A==",
        "5f4dcc3b5aa765d61d8327deb882cf99",
    ] {
        let refused = ForeignHash::parse(bad).expect_err(bad).to_string();
        assert!(bad.len() < 10 || !refused.contains(&bad[6..]), "{refused}");
    }
    assert!(ForeignHash::of(&StoredPassword::new(OF_OTHERS[0])).is_none(), "only what came by an import is a foreign hash");
}

#[test]
fn the_dearest_hash_sets_the_pace() {
    let pace = Pace::default();
    let of = |scheme, units| ForeignCost { scheme, units };
    let (cheap, dear) = (of(HashScheme::Pbkdf2Sha256, 1_000), of(HashScheme::Bcrypt, 1 << 12));
    let least = |costs: &[ForeignCost]| pace.dearest(costs).expect("the samples are computed");
    assert!(least(&[cheap]) < least(&[dear]));
    assert_eq!(least(&[dear, cheap]), least(&[cheap, dear]));
    assert_eq!(least(&[]), std::time::Duration::ZERO);
    for scheme in [HashScheme::Argon2, HashScheme::Bcrypt, HashScheme::Scrypt, HashScheme::Pbkdf2Sha256, HashScheme::Pbkdf2Sha512] {
        assert!(least(&[of(scheme, 1_000_000)]) > std::time::Duration::ZERO, "{scheme:?}");
    }
    pace.note(dear, std::time::Duration::from_secs(100));
    assert!(least(&[dear]) >= std::time::Duration::from_secs(125), "a slow machine is waited for");
    for _ in 0..200 {
        pace.note(dear, std::time::Duration::from_millis(1));
    }
    assert!(least(&[dear]) < std::time::Duration::from_secs(100), "not for good");
}
