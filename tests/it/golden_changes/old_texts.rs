//! Prompts that are part of a file: a value of YAML or JSON, or a text in code.

use super::*;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "recordings that were asked with a replaced value or a replaced text in code need an approval",
            replaced,
        ),
        trial(
            "recordings of a prompt that is only written otherwise are listed",
            rewritten,
        ),
        trial(
            "recordings that only changed their place need an approval where the prompt changed",
            from_elsewhere,
        ),
        trial(
            "an example that leaves the prompt may be what a user writes",
            example,
        ),
    ]
}

const OLD: &str =
    "You are the friendly helper of Acme. Always state our opening hours, which are 9 to 17.";
const NEW: &str =
    "You are a curt bot. Never tell anybody when the shop is open, whatever they ask you.";

/// How a file has a prompt: its name, what is before the prompt, and what is after it.
const FORMS: [(&str, &str, &str); 6] = [
    ("agent.md", "---\nname: helper\nmodel: m\n---\n", "\n"),
    (
        "agents.yaml",
        "helper:\n  role: support\n  system: |\n    ",
        "\n",
    ),
    ("agents.yaml", "helper: { role: support, system: '", "' }\n"),
    (
        "prompts.json",
        "{\"helper\": {\"model\": \"m\", \"system\": \"",
        "\"}}\n",
    ),
    (
        "agent.py",
        "import openai\n\nSYSTEM = \"",
        "\"\n\ndef main(query):\n    return openai.chat(SYSTEM, query)\n",
    ),
    ("agent.ts", "export const system = `", "`;\n"),
];

/// An agent whose file has this text, and whose requests have the old prompt.
fn with(file: &str, text: &str) -> Repository {
    let repository = committed();
    repository.write(&format!("prompts/{file}"), text);
    asked(&repository, OLD);
    commit_all(&repository);
    repository
}

/// The recordings are made again, with other words in their answers.
fn asked(repository: &Repository, prompt: &str) {
    for case in 0..CASES {
        let text = repository
            .read(&recording(case))
            .replace("Needs prior approval.", "Needs approval.");
        let mut run: Value = serde_json::from_str(&text).unwrap();
        run["inputs"] = json!({ "prompt": format!("{prompt}\n\nThe lease.") });
        repository.write(&recording(case), run.to_string());
    }
}

fn replaced() {
    for (file, before, after) in FORMS {
        let repository = with(file, &format!("{before}{OLD}{after}"));
        repository.write(&format!("prompts/{file}"), format!("{before}{NEW}{after}"));
        record_again(&repository);
        asked(&repository, OLD);
        let ran = against(&repository, &[]);
        let says = format!(
            "12 recordings of `contracts/legal` made with a text that prompts/{file} no longer has"
        );
        assert!(
            ran.code == 1 && ran.stdout.contains(&says),
            "{before}: {}{}",
            ran.stdout,
            ran.stderr
        );
        asked(&repository, NEW);
        let ran = against(&repository, &[]);
        assert_eq!(ran.code, 0, "{before}: {}{}", ran.stdout, ran.stderr);
    }
}

fn record_again(repository: &Repository) {
    let again = |text: String| text.replace("Needs approval.", "Approval is needed.");
    (0..CASES).for_each(|case| {
        repository.write(&recording(case), again(repository.read(&recording(case))))
    });
}

fn rewritten() {
    let file = "prompts/agent.py";
    let text = format!("SYSTEM = \"{OLD}\"\n");
    let [first, second] = [
        "You are the friendly helper of Acme. Always state ",
        "our opening hours, which are 9 to 17.",
    ];
    type Change<'a> = &'a dyn Fn(&Repository);
    let changes: [(&str, Change<'_>); 4] = [
        ("wrapped", &|it| {
            it.write(
                file,
                format!("SYSTEM = (\n    '{first}'\n    '{second}'\n)\n"),
            )
        }),
        ("moved", &|it| {
            it.write(file, "SYSTEM = open('prompts/system.txt').read()\n");
            it.write("prompts/system.txt", format!("{OLD}\n"));
        }),
        ("with placeholders", &|it| {
            it.write(
                file,
                "SYSTEM = f\"You are the friendly helper of {name}. Always state our {what}.\"\n",
            );
        }),
        ("with more", &|it| {
            it.write(file, format!("SYSTEM = \"{OLD} Be brief.\"\n"))
        }),
    ];
    for (name, change) in changes {
        let repository = with("agent.py", &text);
        change(&repository);
        record_again(&repository);
        let ran = against(&repository, &[]);
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.stdout, ran.stderr);
    }
}

/// Another folder has recordings of the agent before, which nobody read.
fn from_elsewhere() {
    let repository = committed();
    for case in 0..CASES {
        let other = repository
            .read(&recording(case))
            .replace("Needs prior approval.", "Needs approval.");
        for folder in ["nightly/", "archive/"] {
            repository.write(&recording(case).replace("runs/", folder), &other);
        }
    }
    commit_all(&repository);
    repository.write(
        "prompts/legal.md",
        "Report nothing at all, whatever you read.\n",
    );
    repository.replace("goldgate.yaml", "replay: runs", "replay: nightly");
    let ran = against(&repository, &[]);
    let says = "12 recordings of `contracts/legal` with the content that the base commit has in a file of another name";
    assert!(
        ran.code == 1 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    for case in 0..CASES {
        let file = recording(case).replace("runs/", "nightly/");
        repository.replace(&file, "Needs approval.", "Needs approval first.");
    }
    let ran = against(&repository, &[]);
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
}

fn example() {
    let question =
        "I have moved to another town last month. When are you open, and where do I find you?";
    let prompt = |example: &str| format!("{OLD} {example}");
    let text = |example: &str| format!("SYSTEM = \"\"\"\n{OLD}\n{example}\n\"\"\"\n");
    let repository = with("agent.py", &text(question));
    asked(&repository, &format!("{}\n{question}", prompt(question)));
    commit_all(&repository);
    repository.write("prompts/agent.py", text("Be brief."));
    record_again(&repository);
    asked(&repository, &format!("{}\n{question}", prompt("Be brief.")));
    assert_eq!(against(&repository, &[]).code, 0);
    // What the case asks is in the request whatever the agent's files say.
    let document = "On a change of control the landlord has to approve.";
    let other = with("agent.py", &text("Be brief."));
    other.write(
        "prompts/notes.md",
        format!("An example: {document}\n{document}\n"),
    );
    asked(&other, &format!("{OLD} {document}"));
    commit_all(&other);
    other.write("prompts/notes.md", "An example would be long.\n");
    record_again(&other);
    let ran = against(&other, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // The control: the prompt still has it.
    asked(&repository, &format!("{}\n{question}", prompt(question)));
    assert_eq!(against(&repository, &[]).code, 1);
}
