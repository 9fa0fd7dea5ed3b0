use crate::Page;

/// Chooses a language, such as `de`, as a visitor does.
pub async fn speak(page: &impl Page, code: &str) {
    let choose = "async (code) => {
        const choice = document.querySelector('select#language');
        choice.value = code;
        choice.dispatchEvent(new Event('change', { bubbles: true }));
        while (document.documentElement.lang !== code) await new Promise((later) => setTimeout(later, 20));
    }";
    page.call(choose, code.into()).await;
}
