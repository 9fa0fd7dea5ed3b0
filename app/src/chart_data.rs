//! What a chart shows, as a table of commas and as a picture that stands by itself.

use results::csv;

/// How a picture looks without the page's style sheet: on light ground, as it will be printed.
const STYLE: &str = "svg{background:#fff;color:#14171f;font:13px system-ui,sans-serif}\
    path{fill:none;stroke:currentcolor;stroke-width:2.5;stroke-linecap:round;stroke-linejoin:round}\
    circle{fill:currentcolor;stroke:#fff;stroke-width:2}.reach{fill:none;stroke:none}.grid{stroke:#dcdad2}\
    .target{stroke:#868b96;stroke-dasharray:2 5}.published{stroke:#545b68;stroke-dasharray:6 4;color:#545b68}\
    .mark-text{fill:#545b68;font-size:12px}\
    .label{fill:currentcolor;font-weight:640}.goal{color:#545b68}\
    .training,.s0{color:#0067b1}.test,.s1{color:#b84a00}.s2{color:#0b7a4b}.s3{color:#7a3e9d}.s4{color:#2742d6}\
    .s5{color:#b3261e}.s6,.s7{color:#545b68}\
    g.published path{stroke-width:1.25;stroke-dasharray:6 4}g.test path{stroke-dasharray:1 6}g.s1 path{stroke-dasharray:7 5}g.s2 path{stroke-dasharray:2 5}\
    g.s3 path{stroke-dasharray:10 4 2 4}g.s4 path{stroke-dasharray:14 5}g.s5 path{stroke-dasharray:5 3 1 3}\
    g.s7 path{stroke-dasharray:1 8}";

/// A line for each point: the curve's name, seconds of training, and the value, unrounded.
pub fn table<'a>(value: &str, curves: impl IntoIterator<Item = (&'a str, &'a [(f64, f64)])>) -> String {
    let mut text = format!("curve,training_seconds,{}\n", csv::cell(&value.to_lowercase().replace(' ', "_")));
    for (name, points) in curves {
        for (seconds, value) in points {
            text.push_str(&format!("{},{seconds},{value}\n", csv::cell(name)));
        }
    }
    text
}

/// The page's own drawing as a file; nothing where there is none in what the page shows.
pub fn picture(shown: &str) -> Option<String> {
    let begin = shown.find("<svg")?;
    let end = shown.find("</svg>")? + "</svg>".len();
    let (head, rest) = shown.get(begin..end)?.split_once('>')?;
    let head = head.replacen("<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"", 1);
    Some(format!("{head}><style>{STYLE}</style>{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_a_line_of_the_table() {
        let points = [(0.5, 2.3), (1.0, 1.25)];
        let table = table("Training loss", [("wgsl", &points[..]), ("a, b", &points[..1])]);
        let expected = "curve,training_seconds,training_loss\nwgsl,0.5,2.3\nwgsl,1,1.25\n\"a, b\",0.5,2.3\n";
        assert_eq!(table, expected);
    }

    #[test]
    fn a_picture_has_its_own_style_and_name_space() {
        let shown = "<!----><svg role=\"img\" width=\"480\"><path d=\"M0 0\"></path></svg><!---->";
        let picture = picture(shown).unwrap();
        assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"480\"><style>"));
        assert!(picture.ends_with("</style><path d=\"M0 0\"></path></svg>"), "{picture}");
        assert_eq!(super::picture("<p>nothing</p>"), None);
    }
}
