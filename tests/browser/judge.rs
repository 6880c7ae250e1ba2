//! Who judges the judge: pages that are spoilt on purpose, and what must be said of them.

use tenant_auth_conformance::{browser::Stage, visits};

visits! {
    faults_of_a_page_are_found,
    what_a_page_must_not_do_is_noticed,
}

/// What is put on the page, and what is to be said of it.
const FAULTS: [(&str, &str); 14] = [
    ("<button></button>", "no name"),
    ("<button></button>", "announced without a name"),
    ("<input>", "no label"),
    ("<img src='assets/logo.svg'>", "an image without alt"),
    ("<h1>Another</h1>", "the page has 2 h1"),
    ("<h5>Deep</h5>", "h5 after"),
    ("<button tabindex='3'>x</button>", "a positive tabindex"),
    ("<p data-style='color: #999; background: #aaa'>faint</p>", "contrast"),
    (
        "<p data-style='color: light-dark(#222, #333); background: light-dark(#fff, #222)'>faint at night</p>",
        "dark: text: contrast",
    ),
    ("<button data-style='outline: none; box-shadow: none; border-color: red'>x</button>", "nobody sees that it has the focus"),
    ("<div data-style='width: 500px; height: 1px'></div>", "narrow: at 345 px the page is"),
    ("<nav></nav>", "a navigation without a name"),
    ("<table></table>", "a table without a name"),
    ("<input type='password' aria-label='x'>", "password managers are not told"),
];

async fn faults_of_a_page_are_found(stage: &Stage) {
    let page = &stage.page;
    for (spoilt, said) in FAULTS {
        page.open("/sign-in").await;
        page.arrives_at("Sign in").await;
        let script = "document.querySelector('main').insertAdjacentHTML('beforeend', arguments[0]);
            const it = document.querySelector('main').lastElementChild;
            it.style.cssText = it.dataset.style ?? '';";
        page.run(script, vec![spoilt.into()]).await;
        let faults = page.faults().await;
        assert!(faults.iter().any(|fault| fault.contains(said)), "{spoilt}: {said}, among {faults:#?}");
    }
}

/// What a script of the page does, and what is to be said of it.
const OFFENCES: [(&str, &str); 7] = [
    ("console.error('oh')", "oh"),
    ("setTimeout(() => { throw new Error('nobody caught this') })", "nobody caught this"),
    ("document.body.append(Object.assign(document.createElement('script'), { text: 'let x' }))", "CSP violation"),
    ("new Image().src = 'http://127.0.0.1:9/'", "CSP violation"),
    ("document.cookie = 'access_token=x'", "document.cookie"),
    ("localStorage.setItem('x', 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3JfMSJ9.c2lnbmF0dXJl')", "localStorage"),
    ("history.replaceState(null, '', '#token=x')", "the address still holds the token"),
];

async fn what_a_page_must_not_do_is_noticed(stage: &Stage) {
    let page = &stage.page;
    page.open("/sign-in").await;
    page.arrives_at("Sign in").await;
    for (script, said) in OFFENCES {
        page.run(script, vec![]).await;
        let mut offences = Vec::new();
        for _ in 0..50 {
            offences.extend(page.offences().await);
            if offences.iter().any(|offence| offence.contains(said)) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert!(offences.iter().any(|offence| offence.contains(said)), "{script}: {said}, among {offences:#?}");
    }
    let undo = "document.cookie = 'access_token=; max-age=0'; localStorage.clear(); history.replaceState(null, '', '#')";
    page.run(undo, vec![]).await;
}
