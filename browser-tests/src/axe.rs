//! What axe-core finds wrong with a page for people who cannot see it, or cannot use a mouse.
//!
//! [axe-core](https://github.com/dequelabs/axe-core) looks at the page as it stands: contrast, names, roles, structure.
//! `cargo xtask test` fetches it and says in `GRADMARK_AXE` where its script lies.

use std::env;
use std::fs;

use serde_json::Value;

use crate::Page;

/// All rules that are on by default, best practices included, and the size of targets (WCAG 2.2, 2.5.8), which is not.
const OPTIONS: &str = "{ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }";

/// The script, or why there is none.
///
/// # Errors
/// `GRADMARK_AXE` is not set.
///
/// # Panics
/// It names a file that cannot be read.
pub fn axe() -> Result<Axe, &'static str> {
    let path = env::var_os("GRADMARK_AXE").ok_or("axe-core could not be fetched, or GRADMARK_AXE does not name it")?;
    Ok(Axe { script: fs::read_to_string(path).expect("GRADMARK_AXE names a script") })
}

/// axe-core.
pub struct Axe {
    script: String,
}

impl Axe {
    /// Each violation with the elements that it was found in, a line each.
    ///
    /// # Panics
    /// axe-core looked at nothing.
    pub async fn violations(&self, page: &impl Page) -> Vec<String> {
        // In the page's own world a policy forbids scripts from elsewhere; a driver's scripts are not held to it.
        let script = &self.script;
        let look = format!(
            "async () => {{
                if (!window.axe) {{ {script} }}
                // Colours on their way from one theme to the other are no colours of the page.
                const finite = (of) => Number.isFinite(of.effect?.getComputedTiming().endTime);
                await Promise.all(document.getAnimations().filter(finite).map((of) => of.finished.catch(() => {{}})));
                const found = await window.axe.run(document, {OPTIONS});
                const said = (node) => `${{node.target.join(' ')}}: ${{node.failureSummary.replace(/\\s+/g, ' ')}}`;
                return {{
                    engine: found.testEngine.version,
                    violations: found.violations.flatMap((of) => of.nodes.map((node) => `${{of.id}}: ${{said(node)}}`)),
                }};
            }}"
        );
        let found = page.call(&look, Value::Null).await;
        assert!(found["engine"].is_string(), "{found}");
        let violations = found["violations"].as_array().expect("a list");
        violations.iter().map(|line| line.as_str().expect("a line").to_owned()).collect()
    }
}
