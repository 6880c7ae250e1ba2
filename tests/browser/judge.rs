//! Who judges the judge: pages that are spoilt on purpose, and what must be said of them.

use tenant_auth_conformance::{browser::Stage, visits};

visits! {
    faults_of_a_page_are_found,
    what_a_page_must_not_do_is_noticed;
    with axe: faults_that_axe_knows_are_found
}

/// What is put on the page, and what is to be said of it.
const FAULTS: [(&str, &str); 8] = [
    ("<button></button>", "announced without a name"),
    ("<h1>Another</h1>", "the page has 2 h1"),
    ("<button data-style='outline: none; box-shadow: none; border-color: red'>x</button>", "nobody sees that it has the focus"),
    ("<div data-style='width: 500px; height: 1px'></div>", "narrow: at 345 px the page is"),
    ("<nav></nav>", "a navigation without a name"),
    ("<table></table>", "a table without a name"),
    ("<fieldset></fieldset>", "a group without a name"),
    ("<input type='password' aria-label='x'>", "password managers are not told"),
];

/// Likewise, where axe-core says it.
const VIOLATIONS: [(&str, &str); 8] = [
    ("<button></button>", "axe: button-name"),
    ("<input>", "axe: label"),
    ("<img src='assets/logo.svg'>", "axe: image-alt"),
    ("<h5>Deep</h5>", "axe: heading-order"),
    ("<button tabindex='3'>x</button>", "axe: tabindex"),
    ("<p data-style='color: #999; background: #aaa'>faint</p>", "axe: color-contrast"),
    (
        "<p data-style='color: light-dark(#222, #333); background: light-dark(#fff, #222)'>faint at night</p>",
        "dark: axe: color-contrast",
    ),
    ("<input aria-label='x' class='faint' placeholder='faint'>", "axe: color-contrast"),
];

async fn faults_of_a_page_are_found(stage: &Stage) {
    are_found(stage, &FAULTS).await;
}

async fn faults_that_axe_knows_are_found(stage: &Stage) {
    are_found(stage, &VIOLATIONS).await;
}

async fn are_found(stage: &Stage, faults: &[(&str, &str)]) {
    let page = &stage.page;
    for (spoilt, said) in faults {
        page.open("/sign-in").await;
        page.arrives_at("Sign in").await;
        let script = "document.querySelector('main').insertAdjacentHTML('beforeend', arguments[0]);
            const it = document.querySelector('main').lastElementChild;
            it.style.cssText = it.dataset.style ?? '';
            const sheet = new CSSStyleSheet();
            sheet.replaceSync('.faint { background: #fff } .faint::placeholder { color: #ccc }');
            document.adoptedStyleSheets.push(sheet);";
        page.run(script, vec![(*spoilt).into()]).await;
        let found = page.faults().await;
        assert!(found.iter().any(|fault| fault.contains(said)), "{spoilt}: {said}, among {found:#?}");
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
