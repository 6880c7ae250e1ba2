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

/// What is put on the page all at once, and the rule of axe-core that each breaks, in the order of the ids `spoilt-0`, `spoilt-1`, …
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
    let page = &stage.page;
    for (spoilt, said) in FAULTS {
        spoil(stage, &[spoilt]).await;
        let faults = page.faults().await;
        assert!(faults.iter().any(|fault| fault.contains(said)), "{spoilt}: {said}, among {faults:#?}");
    }
}

async fn faults_that_axe_knows_are_found(stage: &Stage) {
    spoil(stage, &VIOLATIONS.map(|(spoilt, _)| spoilt)).await;
    let faults = stage.page.faults().await;
    for (index, (spoilt, rule)) in VIOLATIONS.iter().enumerate() {
        let id = format!("id=\"spoilt-{index}\"");
        let is_found = faults.iter().any(|fault| fault.starts_with(rule) && fault.contains(&id));
        assert!(is_found, "{spoilt}: {rule}, among {faults:#?}");
    }
}

/// The page of the sign-in, and on it what is wrong.
async fn spoil(stage: &Stage, parts: &[&str]) {
    let page = &stage.page;
    page.open("/sign-in").await;
    page.arrives_at("Sign in").await;
    let script = "const main = document.querySelector('main');
        arguments[0].forEach((part, index) => {
            main.insertAdjacentHTML('beforeend', part);
            main.lastElementChild.id = `spoilt-${index}`;
            main.lastElementChild.style.cssText = main.lastElementChild.dataset.style ?? '';
        });
        const sheet = new CSSStyleSheet();
        sheet.replaceSync('.faint { background: #fff } .faint::placeholder { color: #ccc }');
        document.adoptedStyleSheets.push(sheet);";
    page.run(script, vec![parts.into()]).await;
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
