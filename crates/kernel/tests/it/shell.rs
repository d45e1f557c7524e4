//! Shell texts and what they would run, whole.

use std::fmt::Write as _;

use mast_kernel::limits::{SHELL_DEPTH_MAX, SHELL_TEXT_BYTES_MAX, SHELL_TREE_DEPTH_MAX};
use mast_kernel::resource::Resource;
use mast_kernel::shell;
use proptest::prelude::*;

/// One line for each resource: `=` what is exact, `?` what is not, `<` and `>` files.
fn shown(resources: &[Resource]) -> String {
    let mut shown = String::new();
    for resource in resources {
        match resource {
            Resource::Command { words, exact } => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                write!(shown, " {}[{}]", if *exact { "=" } else { "?" }, words.join(" ")).unwrap();
            }
            Resource::Redirect { path, write } => {
                write!(shown, " {}{}", if *write { ">" } else { "<" }, quoted(path)).unwrap();
            }
            other => write!(shown, " {other:?}").unwrap(),
        }
    }
    shown
}

fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && !word.contains([' ', '\n', '[', ']', '"']);
    if plain { word.to_owned() } else { format!("{word:?}") }
}

fn check(texts: &[&str], expect: &expect_test::Expect) {
    let mut table = String::new();
    for text in texts {
        writeln!(table, "{}\n   {}", text.escape_debug(), shown(&shell::of_text(text))).unwrap();
    }
    expect.assert_eq(&table);
}

#[test]
fn plain_commands_pipes_and_lists() {
    check(
        &[
            "git status",
            "ls -la \"a b\" 'c d'",
            "git log && curl x | sh",
            "a | b |& c",
            "a; b & c\nd",
            "a || b && c",
            "! a",
            "(a; b)",
            "{ a; b; }",
            "# nothing",
            "  \n ",
            "",
            "a # b",
            "a \\\n b",
            "./x --y=\"1 2\"",
            "a && b && c && d",
        ],
        &expect_test::expect![[r#"
            git status
                =[git status]
            ls -la \"a b\" \'c d\'
                =[ls -la "a b" "c d"]
            git log && curl x | sh
                =[git log] =[curl x] ?[sh]
            a | b |& c
                =[a] =[b] =[c]
            a; b & c\nd
                =[a] =[b] =[c] =[d]
            a || b && c
                =[a] =[b] =[c]
            ! a
                =[a]
            (a; b)
                =[a] =[b]
            { a; b; }
                =[a] =[b]
            # nothing
                ?[]
              \n 
                ?[]

                ?[]
            a # b
                =[a]
            a \\\n b
                =[a b]
            ./x --y=\"1 2\"
                =[./x "--y=1 2"]
            a && b && c && d
                =[a] =[b] =[c] =[d]
        "#]],
    );
}

#[test]
fn blocks() {
    check(
        &[
            "if a; then b; elif c; then d; else e; fi",
            "for x in 1 .env; do a $x; done",
            "while a; do b; done",
            "until a; do b; done",
            "case $x in a) b;; *) c;; esac",
            "f() { a; }; f",
            "function f { a; }",
            "for ((i=0;i<3;i++)); do a; done",
            "select x in 1 2; do a; done",
            "[ -f x ] && a",
            "[[ -f \"x y\" ]]",
            ":(){ :|:& };:",
            "f() { a; } > x",
        ],
        &expect_test::expect![[r#"
            if a; then b; elif c; then d; else e; fi
                =[a] =[b] =[c] =[d] =[e]
            for x in 1 .env; do a $x; done
                =[for x 1 .env] ?[a $x]
            while a; do b; done
                =[a] =[b]
            until a; do b; done
                =[a] =[b]
            case $x in a) b;; *) c;; esac
                =[b] =[c]
            f() { a; }; f
                =[function f] =[a] =[f]
            function f { a; }
                =[function f] =[a]
            for ((i=0;i<3;i++)); do a; done
                =[i=0] =[a]
            select x in 1 2; do a; done
                =[select x 1 2] =[a]
            [ -f x ] && a
                =["[" -f x "]"] =[a]
            [[ -f \"x y\" ]]
                =["[[" -f "x y" "]]"]
            :(){ :|:& };:
                =[function : : :] =[:] =[:] =[:]
            f() { a; } > x
                =[function f] =[a] >x
        "#]],
    );
}

#[test]
fn substitutions() {
    check(
        &[
            "echo $(a b)",
            "echo \"x $(a $(b))\"",
            "echo `a b`",
            "diff <(a) <(b)",
            "tee >(a)",
            "echo $((1+2))",
            "x=$(a)",
            "a ${x:-$(b)}",
            "$(a) b",
        ],
        &expect_test::expect![[r#"
            echo $(a b)
                ?[echo "$(a b)"] =[a b]
            echo \"x $(a $(b))\"
                ?[echo "x $(a $(b))"] ?[a $(b)] =[b]
            echo `a b`
                ?[echo "`a b`"] =[a b]
            diff <(a) <(b)
                ?[diff <(a) <(b)] =[a] =[b]
            tee >(a)
                ?[tee >(a)] >>(a) =[a]
            echo $((1+2))
                ?[echo $((1+2))]
            x=$(a)
                ?[x=$(a)] =[a]
            a ${x:-$(b)}
                ?[a ${x:-$(b)}] =[b]
            $(a) b
                ?[$(a) b] =[a]
        "#]],
    );
}

#[test]
fn redirections() {
    check(
        &[
            "a > x",
            "a >> x 2>&1",
            "a < x",
            "a &> x",
            "> x",
            "a 2>/dev/null",
            "> x a b",
            "a > x b c",
            "a > $x",
            "a >| \"x y\"",
            "{ a; } > x",
            "a | b > x",
            "a >&2",
            "a <<< b",
            "a <<E\nb\nE",
            "a <<'E' | b\nc $(d)\nE",
            "a <<E\nb $(c)\nE",
            "a <<E > x\nb\nE",
            "a <<E b\nc\nE",
            "exec 3>x",
            "a && b > x c",
        ],
        &expect_test::expect![[r#"
            a > x
                =[a] >x
            a >> x 2>&1
                =[a] >x
            a < x
                =[a] <x
            a &> x
                =[a] >x
            > x
                >x
            a 2>/dev/null
                =[a] >/dev/null
            > x a b
                =[a b] >x
            a > x b c
                =[a b c] >x
            a > $x
                =[a] >$x ?[]
            a >| \"x y\"
                =[a] >"x y"
            { a; } > x
                =[a] >x
            a | b > x
                =[a] =[b] >x
            a >&2
                =[a]
            a <<< b
                =[a]
            a <<E\nb\nE
                =[a]
            a <<\'E\' | b\nc $(d)\nE
                =[a] =[b]
            a <<E\nb $(c)\nE
                =[a] =[c]
            a <<E > x\nb\nE
                =[a] >x
            a <<E b\nc\nE
                =[a b]
            exec 3>x
                =[exec] >x
            a && b > x c
                ?[] =[a] =[b] >x
        "#]],
    );
}

const HERE_DOCUMENTS: &[&str] = &[
    "a <<E\n`b`\nE",
    "a <<-E\n\t$(b)\n\tE",
    "a <<-E\n\tx `b`\n\tE",
    "a <<-E\n\t${x}\n\tE",
    "a <<E\n${x:-`b`}\nE",
    "a <<E\n${x@P}\nE",
    "a <<E\n$((x))\nE",
    "a <<E\n$[x]\nE",
    "a <<E && c\n`b`\nE",
    "{ a; } <<E\n`b`\nE",
    "a <<E\nx\\\nE\ncat <<'X'\nE\nb\nX",
    "a <<\"E F\"\nb\nE F",
    "a <<E\"\"\nb\nE",
    "a <<'E'x\nb\nEx",
    "a <<-E\n\t\tb\n  E\nE",
    "a <<E\nb\nE ",
    "a <<'E'\n`b` $(c) ${d@P}\\\nE",
    "a <<\"E\"\n`b`\nE",
    "a <<\\E\n`b`\nE",
    "a <<-'E'\n\t`b`\n\tE",
    "a <<E\n$x ${y} x\\`y 5$\nE",
    "a <<E\nx $(b) y $(c)\nE\nd",
    "a <<-E\n\tx $y\n\tE",
    "a <<E\nE",
    "a <<E\n$((a['$(b)']))\nE",
    "cat 3<<E\n`b`\nE",
];

#[test]
fn here_documents_hide_nothing() {
    check(
        HERE_DOCUMENTS,
        &expect_test::expect![[r#"
            a <<E\n`b`\nE
                =[a] ?[]
            a <<-E\n\t$(b)\n\tE
                =[a] ?[]
            a <<-E\n\tx `b`\n\tE
                =[a] ?[]
            a <<-E\n\t${x}\n\tE
                =[a] ?[]
            a <<E\n${x:-`b`}\nE
                =[a] ?[] ?[] ?[]
            a <<E\n${x@P}\nE
                =[a] ?[] ?[]
            a <<E\n$((x))\nE
                =[a] ?[] =[x]
            a <<E\n$[x]\nE
                ?[]
            a <<E && c\n`b`\nE
                =[a] ?[] =[c]
            { a; } <<E\n`b`\nE
                =[a] ?[]
            a <<E\nx\\\nE\ncat <<\'X\'\nE\nb\nX
                =[a] ?[] =[cat]
            a <<\"E F\"\nb\nE F
                =[a] ?[]
            a <<E\"\"\nb\nE
                ?[]
            a <<\'E\'x\nb\nEx
                ?[]
            a <<-E\n\t\tb\n  E\nE
                =[a] ?[] =[E]
            a <<E\nb\nE 
                =[a] ?[]
            a <<\'E\'\n`b` $(c) ${d@P}\\\nE
                =[a]
            a <<\"E\"\n`b`\nE
                =[a]
            a <<\\E\n`b`\nE
                =[a]
            a <<-\'E\'\n\t`b`\n\tE
                =[a]
            a <<E\n$x ${y} x\\`y 5$\nE
                =[a]
            a <<E\nx $(b) y $(c)\nE\nd
                =[a] =[b] =[c] =[d]
            a <<-E\n\tx $y\n\tE
                =[a]
            a <<E\nE
                =[a]
            a <<E\n$((a[\'$(b)\']))\nE
                ?[]
            cat 3<<E\n`b`\nE
                =[cat] ?[]
        "#]],
    );
}

#[test]
fn what_is_put_in_for_a_variable_hides_nothing() {
    check(
        &[
            "case ${x:-`a`} in b) c;; esac",
            "case x in ${y:-`a`}) c;; esac",
            "a <<< ${x:-`b`}",
            "a <<< \"${x@P}\"",
            "a <<< \"${!x}\"",
            "a <<< ${x['$(b)']}",
            "a <<< $((x['$(b)']))",
            "case $((x[1])) in b) c;; esac",
            "echo \"${x:-`a`}\"",
            "a <<< \"$x ${y} ${z:-b}\"",
            "case $x in b) c;; esac",
            "a <<< $((1 + 2))",
            "a <<< 'x `b`'",
            "a <<< x\\`y",
        ],
        &expect_test::expect![[r#"
            case ${x:-`a`} in b) c;; esac
                ?[] ?[] =[c]
            case x in ${y:-`a`}) c;; esac
                ?[] ?[] =[c]
            a <<< ${x:-`b`}
                =[a] ?[] ?[]
            a <<< \"${x@P}\"
                =[a] ?[]
            a <<< \"${!x}\"
                =[a] ?[]
            a <<< ${x[\'$(b)\']}
                =[a] ?[]
            a <<< $((x[\'$(b)\']))
                =[a] ?[]
            case $((x[1])) in b) c;; esac
                ?[] =[c]
            echo \"${x:-`a`}\"
                ?[echo ${x:-`a`}] ?[] ?[]
            a <<< \"$x ${y} ${z:-b}\"
                =[a]
            case $x in b) c;; esac
                =[c]
            a <<< $((1 + 2))
                =[a]
            a <<< \'x `b`\'
                =[a]
            a <<< x\\`y
                =[a]
        "#]],
    );
}

#[test]
fn an_index_that_is_expanded_once_more_is_unclear() {
    check(
        &[
            "[[ -v 'a[$(b)]' ]]",
            "test -v 'a[$(b)]'",
            "[ -v \"a[\\$(b)]\" ]",
            "printf -v 'a[$(b)]' x",
            "let 'a[`b`]'",
            "read 'a[$(b)]'",
            "unset 'a[$(b)]'",
            "declare -i 'x=a[$(b)]'",
            "declare -n x='a[$(b)]'",
            "x='a[$(b)]'",
            "[[ 'a[$x]' -eq 1 ]]",
            "builtin let 'a[$(b)]'",
            "c; (( a['$(b)'] ))",
            "c; (( a[1] ))",
            "for ((i=a['$(b)'];i<3;i++)); do c; done",
            "echo 'a[$(b)]'",
            "printf '%s [$x]'",
            "grep '[$(]' x",
            "unset 'a[1]'",
            "let 'x=a+1'",
            "c; (( x + 1 ))",
        ],
        &expect_test::expect![[r#"
            [[ -v \'a[$(b)]\' ]]
                ?["[[" -v "a[$(b)]" "]]"]
            test -v \'a[$(b)]\'
                ?[test -v "a[$(b)]"]
            [ -v \"a[\\$(b)]\" ]
                ?["[" -v "a[$(b)]" "]"]
            printf -v \'a[$(b)]\' x
                ?[printf -v "a[$(b)]" x]
            let \'a[`b`]\'
                ?[let "a[`b`]"]
            read \'a[$(b)]\'
                ?[read "a[$(b)]"]
            unset \'a[$(b)]\'
                ?[unset "a[$(b)]"]
            declare -i \'x=a[$(b)]\'
                ?[declare -i "x=a[$(b)]"]
            declare -n x=\'a[$(b)]\'
                ?[declare -n "x=a[$(b)]"]
            x=\'a[$(b)]\'
                ?["x=a[$(b)]"]
            [[ \'a[$x]\' -eq 1 ]]
                ?["[[" "a[$x]" -eq 1 "]]"]
            builtin let \'a[$(b)]\'
                =[builtin let "a[$(b)]"] ?[let "a[$(b)]"]
            c; (( a[\'$(b)\'] ))
                =[c] ?[]
            c; (( a[1] ))
                =[c] ?[]
            for ((i=a[\'$(b)\'];i<3;i++)); do c; done
                ?[]
            echo \'a[$(b)]\'
                =[echo "a[$(b)]"]
            printf \'%s [$x]\'
                =[printf "%s [$x]"]
            grep \'[$(]\' x
                =[grep "[$(]" x]
            unset \'a[1]\'
                =[unset "a[1]"]
            let \'x=a+1\'
                =[let x=a+1]
            c; (( x + 1 ))
                =[c]
        "#]],
    );
}

#[test]
fn blocks_after_coproc_and_what_git_runs() {
    check(
        &[
            "coproc X { a b; }",
            "coproc { a b; }",
            "coproc X while a; do b; done",
            "coproc a b",
            "git -c alias.x='!a b' x",
            "git -c core.pager=a log",
            "git -c user.name=x commit",
            "git -C x status",
            "git bisect run a b",
            "git bisect start",
            "git submodule foreach --recursive 'a b; c'",
            "git submodule update",
            "git config alias.x '!a b'",
            "git config user.name x",
            "git config --get core.pager",
            "git rebase --ex 'a b' main",
            "git clone -u 'a b' x",
            "git clone ext::a x",
            "git push -u origin x",
            "git filter-branch --tree-filter 'a b'",
        ],
        &expect_test::expect![[r#"
            coproc X { a b; }
                ?[coproc X { a b] =[{ a b] =[a b] =[}]
            coproc { a b; }
                ?[coproc { a b] =[{ a b] =[a b] =[}]
            coproc X while a; do b; done
                ?[coproc X while a] =[while a] =[a] =[do b] =[b] =[done]
            coproc a b
                =[coproc a b] =[a b]
            git -c alias.x=\'!a b\' x
                ?[git -c "alias.x=!a b" x] ?[a b] ?[]
            git -c core.pager=a log
                ?[git -c core.pager=a log] ?[a] ?[]
            git -c user.name=x commit
                =[git -c user.name=x commit]
            git -C x status
                =[git -C x status]
            git bisect run a b
                =[git bisect run a b] =[a b]
            git bisect start
                =[git bisect start]
            git submodule foreach --recursive \'a b; c\'
                =[git submodule foreach --recursive "a b; c"] =[a b] =[c]
            git submodule update
                =[git submodule update]
            git config alias.x \'!a b\'
                ?[git config alias.x "!a b"] ?[a b] ?[]
            git config user.name x
                =[git config user.name x]
            git config --get core.pager
                =[git config --get core.pager]
            git rebase --ex \'a b\' main
                =[git rebase --ex "a b" main] =[a b]
            git clone -u \'a b\' x
                =[git clone -u "a b" x] =[a b]
            git clone ext::a x
                ?[git clone ext::a x] ?[a] ?[]
            git push -u origin x
                =[git push -u origin x]
            git filter-branch --tree-filter \'a b\'
                ?[git filter-branch --tree-filter "a b"] =[a b]
        "#]],
    );
}

#[test]
fn programs_that_run_what_their_options_name() {
    check(
        &[
            "ssh -o ProxyCommand='a b' host c",
            "ssh -vo 'LocalCommand a b' host",
            "scp -oProxyCommand=a x host:y",
            "ssh -o User=me host",
            "ssh -F x host",
            "tar cf x --checkpoint-action=exec='a b' y",
            "tar -xf x --use-compress-prog 'a b'",
            "tar cIf 'a b' x",
            "tar -xzf x",
            "rsync -ave 'a b' x y",
            "sort --compress-program=a x",
            "sort -n x",
        ],
        &expect_test::expect![[r#"
            ssh -o ProxyCommand=\'a b\' host c
                =[ssh -o "ProxyCommand=a b" host c] =[a b] =[c]
            ssh -vo \'LocalCommand a b\' host
                =[ssh -vo "LocalCommand a b" host] =[a b]
            scp -oProxyCommand=a x host:y
                =[scp -oProxyCommand=a x host:y] =[a]
            ssh -o User=me host
                =[ssh -o User=me host]
            ssh -F x host
                ?[ssh -F x host]
            tar cf x --checkpoint-action=exec=\'a b\' y
                =[tar cf x "--checkpoint-action=exec=a b" y] =[a b]
            tar -xf x --use-compress-prog \'a b\'
                =[tar -xf x --use-compress-prog "a b"] =[a b]
            tar cIf \'a b\' x
                ?[tar cIf "a b" x]
            tar -xzf x
                =[tar -xzf x]
            rsync -ave \'a b\' x y
                =[rsync -ave "a b" x y] =[a b]
            sort --compress-program=a x
                =[sort --compress-program=a x] =[a]
            sort -n x
                =[sort -n x]
        "#]],
    );
}

#[test]
fn programs_that_have_a_language_of_their_own() {
    check(
        &[
            "tmux new-session -d -s x 'a b'",
            "tmux new -d a b",
            "tmux send-keys -t x 'a b' Enter",
            "screen -dmS x a b",
            "screen -S x -X stuff 'a b'",
            "pwsh -c 'a b'",
            "nu -c 'a b'",
            "at now <<< 'a b'",
            "echo 'a b' | at now",
            "crontab x",
            "crontab -l",
            "sshpass -p x a b",
            "run0 -u me a b",
            "gosu me a b",
            "su-exec me a b",
            "tini -s -- a b",
            "choom -n 5 -- a b",
            "numactl -m 0 a b",
            "time if a; then b; fi",
        ],
        &expect_test::expect![[r#"
            tmux new-session -d -s x \'a b\'
                ?[tmux new-session -d -s x "a b"] =[a b]
            tmux new -d a b
                ?[tmux new -d a b] =[a b]
            tmux send-keys -t x \'a b\' Enter
                ?[tmux send-keys -t x "a b" Enter] =[a b]
            screen -dmS x a b
                ?[screen -dmS x a b] =[a b]
            screen -S x -X stuff \'a b\'
                ?[screen -S x -X stuff "a b"] =[stuff "a b"]
            pwsh -c \'a b\'
                ?[pwsh -c "a b"] =[a b]
            nu -c \'a b\'
                ?[nu -c "a b"] =[a b]
            at now <<< \'a b\'
                ?[at now] =[a b]
            echo \'a b\' | at now
                =[echo "a b"] ?[at now]
            crontab x
                ?[crontab x] =[x]
            crontab -l
                =[crontab -l]
            sshpass -p x a b
                =[sshpass -p x a b] =[a b]
            run0 -u me a b
                =[run0 -u me a b] =[a b]
            gosu me a b
                =[gosu me a b] =[a b]
            su-exec me a b
                =[su-exec me a b] =[a b]
            tini -s -- a b
                =[tini -s -- a b] =[a b]
            choom -n 5 -- a b
                =[choom -n 5 -- a b] =[a b]
            numactl -m 0 a b
                =[numactl -m 0 a b] =[a b]
            time if a; then b; fi
                =[time if a] =[if a] =[a] =[then b] =[b] =[fi]
        "#]],
    );
}

#[test]
fn assignments() {
    check(
        &[
            "X=1 a",
            "PATH=x a",
            "LD_PRELOAD=./x a",
            "X=1",
            "X=1 Y=\"2 3\"",
            "export X=1",
            "export PATH=x",
            "declare -x GIT_SSH=x",
            "X=$(a) b",
            "unset X",
            "a[0]=1 b",
            "env X=1 a",
            "env LD_PRELOAD=x a",
        ],
        &expect_test::expect![[r#"
            X=1 a
                =[a] =[X=1]
            PATH=x a
                =[a] ?[PATH=x]
            LD_PRELOAD=./x a
                =[a] ?[LD_PRELOAD=./x]
            X=1
                =[X=1]
            X=1 Y=\"2 3\"
                =[X=1] =["Y=2 3"]
            export X=1
                =[export X=1]
            export PATH=x
                ?[export PATH=x]
            declare -x GIT_SSH=x
                ?[declare -x GIT_SSH=x]
            X=$(a) b
                =[b] ?[X=$(a)] =[a]
            unset X
                =[unset X]
            a[0]=1 b
                =[b] ?["a[0]=1"]
            env X=1 a
                =[env X=1 a] =[X=1] =[a]
            env LD_PRELOAD=x a
                ?[env LD_PRELOAD=x a] ?[LD_PRELOAD=x] =[a]
        "#]],
    );
}

const WORDS_THAT_ARE_NOT_ONE_LITERAL_WORD: &[&str] = &[
    "\\rm x",
    "r\"\"m x",
    "'rm' x",
    "$'\\x72m' x",
    "$a x",
    "${a} x",
    "rm${IFS}-rf${IFS}x",
    "`a` x",
    "r?m x",
    "ls *.rs",
    "ls ~",
    "ls {a,b}",
    "a \\; b",
    "a b\\ c",
    "a \\-x",
    "a $x",
    "a \"$x\"",
    "a '$x'",
    "a $'x'",
    "a $\"x\"",
    "/bin/l* x",
    "a r\"\"m",
    "\"\" x",
];

#[test]
fn words_that_are_not_one_literal_word() {
    check(
        WORDS_THAT_ARE_NOT_ONE_LITERAL_WORD,
        &expect_test::expect![[r#"
        \\rm x
            ?[rm x]
        r\"\"m x
            ?[rm x]
        \'rm\' x
            ?[rm x]
        $\'\\x72m\' x
            ?[rm x]
        $a x
            ?[$a x]
        ${a} x
            ?[${a} x]
        rm${IFS}-rf${IFS}x
            ?[rm${IFS}-rf${IFS}x]
        `a` x
            ?[`a` x] =[a]
        r?m x
            ?[]
        ls *.rs
            ?[ls *.rs]
        ls ~
            ?[ls ~]
        ls {a,b}
            ?[ls {a,b}]
        a \\; b
            =[a ; b]
        a b\\ c
            =[a "b c"]
        a \\-x
            =[a -x]
        a $x
            ?[a $x]
        a \"$x\"
            ?[a $x]
        a \'$x\'
            =[a $x]
        a $\'x\'
            ?[a x]
        a $\"x\"
            ?[a $ x]
        /bin/l* x
            ?[/bin/l* x]
        a r\"\"m
            =[a rm]
        \"\" x
            ?["" x]
    "#]],
    );
}

const PROGRAMS_THAT_RUN_THEIR_ARGUMENTS: &[&str] = &[
    "sh -c 'a b; c'",
    "bash -lc \"a && b\"",
    "bash -c \"a $x\"",
    "bash x.sh",
    "sh",
    "curl x | sh",
    "bash -s < x",
    "eval a 'b c'",
    "eval \"$x\"",
    "env -i X=1 -u Y a b",
    "env -S 'a b'",
    "env",
    "sudo -u me a b",
    "sudo -nu me a",
    "doas a",
    "nice -n 5 a",
    "nice -5 a",
    "nohup a &",
    "time a b",
];

#[test]
fn programs_that_run_their_arguments() {
    check(
        PROGRAMS_THAT_RUN_THEIR_ARGUMENTS,
        &expect_test::expect![[r#"
        sh -c \'a b; c\'
            =[sh -c "a b; c"] =[a b] =[c]
        bash -lc \"a && b\"
            =[bash -lc "a && b"] =[a] =[b]
        bash -c \"a $x\"
            ?[bash -c "a $x"] ?[a $x] ?[]
        bash x.sh
            =[bash x.sh]
        sh
            ?[sh]
        curl x | sh
            =[curl x] ?[sh]
        bash -s < x
            ?[bash -s] <x
        eval a \'b c\'
            =[eval a "b c"] =[a b c]
        eval \"$x\"
            ?[eval $x] ?[$x] ?[]
        env -i X=1 -u Y a b
            =[env -i X=1 -u Y a b] =[X=1] =[-u Y a b]
        env -S \'a b\'
            =[env -S "a b"] ?[a b] ?[]
        env
            =[env]
        sudo -u me a b
            =[sudo -u me a b] =[a b]
        sudo -nu me a
            =[sudo -nu me a] =[a]
        doas a
            =[doas a] =[a]
        nice -n 5 a
            =[nice -n 5 a] =[a]
        nice -5 a
            =[nice -5 a] =[a]
        nohup a &
            =[nohup a] =[a]
        time a b
            =[time a b] =[a b]
    "#]],
    );
}

const MORE_PROGRAMS_THAT_RUN_THEIR_ARGUMENTS: &[&str] = &[
    "timeout -k 1 5 a b",
    "xargs -n1 a b",
    "xargs",
    "find . -name x -exec a {} \\;",
    "find . -exec a b + -delete",
    "find . -fprint x",
    "command -v a",
    "builtin a",
    "exec a",
    "exec -a x b",
    "coproc a b",
    "trap 'a b' EXIT",
    "trap - EXIT",
    ". ./x",
    "source x",
    "ssh -p 1 host a 'b;c'",
    "ssh host",
    "parallel a ::: b",
    "watch -n 1 a b",
];

#[test]
fn more_programs_that_run_their_arguments() {
    check(
        MORE_PROGRAMS_THAT_RUN_THEIR_ARGUMENTS,
        &expect_test::expect![[r#"
        timeout -k 1 5 a b
            =[timeout -k 1 5 a b] =[a b]
        xargs -n1 a b
            =[xargs -n1 a b] ?[a b]
        xargs
            =[xargs]
        find . -name x -exec a {} \\;
            =[find . -name x -exec a {} ;] ?[a {}]
        find . -exec a b + -delete
            =[find . -exec a b + -delete] =[a b]
        find . -fprint x
            =[find . -fprint x] >x
        command -v a
            =[command -v a] =[a]
        builtin a
            =[builtin a] =[a]
        exec a
            =[exec a] =[a]
        exec -a x b
            =[exec -a x b] =[b]
        coproc a b
            =[coproc a b] =[a b]
        trap \'a b\' EXIT
            =[trap "a b" EXIT] =[a b]
        trap - EXIT
            =[trap - EXIT]
        . ./x
            ?[. ./x]
        source x
            ?[source x]
        ssh -p 1 host a \'b;c\'
            =[ssh -p 1 host a b;c] =[a b] =[c]
        ssh host
            =[ssh host]
        parallel a ::: b
            ?[parallel a ::: b] =[a ::: b]
        watch -n 1 a b
            =[watch -n 1 a b] =[a b]
    "#]],
    );
}

const SHELLS_IN_SHELLS: &[&str] = &[
    "su me -c 'a b'",
    "flock x a b",
    "flock x -c 'a b'",
    "busybox a b",
    "stdbuf -oL a",
    "/usr/bin/env a",
    "sudo env nice sh -c 'a'",
    "a | tee x",
    "bash <<< 'a b'",
    "bash <<'E'\na b\nE",
    "sudo bash <<E\na $x\nE",
    "sh -c \"sh -c 'a'\"",
    "alias a=b",
    "bash --rcfile x -c a",
    "sh -c",
    "script -c 'a b' x",
    "unknown a b",
];

#[test]
fn shells_in_shells() {
    check(
        SHELLS_IN_SHELLS,
        &expect_test::expect![[r#"
        su me -c \'a b\'
            =[su me -c "a b"] =[a b]
        flock x a b
            =[flock x a b] =[a b]
        flock x -c \'a b\'
            =[flock x -c "a b"] =[a b]
        busybox a b
            =[busybox a b] =[a b]
        stdbuf -oL a
            =[stdbuf -oL a] =[a]
        /usr/bin/env a
            =[/usr/bin/env a] =[a]
        sudo env nice sh -c \'a\'
            =[sudo env nice sh -c a] =[env nice sh -c a] =[nice sh -c a] =[sh -c a] =[a]
        a | tee x
            =[a] =[tee x] >x
        bash <<< \'a b\'
            =[bash] =[a b]
        bash <<\'E\'\na b\nE
            =[bash] =[a b]
        sudo bash <<E\na $x\nE
            =[sudo bash] =[bash] ?[a $x] ?[]
        sh -c \"sh -c \'a\'\"
            =[sh -c "sh -c 'a'"] =[sh -c a] =[a]
        alias a=b
            ?[alias a=b]
        bash --rcfile x -c a
            ?[bash --rcfile x -c a] =[a]
        sh -c
            ?[sh -c]
        script -c \'a b\' x
            =[script -c "a b" x] =[a b]
        unknown a b
            =[unknown a b]
    "#]],
    );
}

#[test]
fn what_cannot_be_read() {
    check(
        &[
            "a 'b",
            "a &&",
            "if a; then",
            "a <<E\nb",
            "a\0b",
            "a\rb",
            "a\u{a0}b",
            "a\u{200b}b",
            "$((1+2",
            "a )",
            "a \u{202e}b",
        ],
        &expect_test::expect![[r#"
            a \'b
                ?[]
            a &&
                ?[]
            if a; then
                ?[]
            a <<E\nb
                ?[]
            a\0b
                ?[]
            a\rb
                ?[]
            a\u{a0}b
                ?[]
            a\u{200b}b
                ?[]
            $((1+2
                ?[]
            a )
                ?[]
            a \u{202e}b
                ?[]
        "#]],
    );
    let unclear = vec![Resource::Command { words: Vec::new(), exact: false }];
    let long = |n: usize| "a".repeat(n);
    assert_ne!(shell::of_text(&long(SHELL_TEXT_BYTES_MAX)), unclear);
    assert_eq!(shell::of_text(&long(SHELL_TEXT_BYTES_MAX + 1)), unclear);
    let deep = |n: usize| format!("{}a{}", "( ".repeat(n), " )".repeat(n));
    // Above the innermost command stands the whole.
    let n_max = SHELL_TREE_DEPTH_MAX - 1;
    assert_ne!(shell::of_text(&deep(n_max)), unclear);
    assert_eq!(shell::of_text(&deep(n_max + 1)), unclear);
    let opened = |n: usize| shell::of_text(&format!("{}a", "nice ".repeat(n)));
    assert!(opened(SHELL_DEPTH_MAX).iter().all(|one| matches!(one, Resource::Command { exact: true, .. })));
    assert_eq!(opened(SHELL_DEPTH_MAX + 1).last(), unclear.last());
}

#[test]
fn vectors() {
    let mut table = String::new();
    for words in [
        &["git", "status"][..],
        &["sh", "-c", "a; b > x"],
        &["env", "X=1", "rm", "$x"],
        &["sudo", "sh", "-c", "rm -rf /"],
        &["rm", "*", "a b"],
        &["find", ".", "-exec", "a", "{}", ";"],
        &["bash", "-c", "a $x"],
        &["LD_PRELOAD=x", "a"],
        &[],
        &[""],
    ] {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        writeln!(table, "{words:?}\n   {}", shown(&shell::of_vector(&words))).unwrap();
    }
    expect_test::expect![[r#"
        ["git", "status"]
            =[git status]
        ["sh", "-c", "a; b > x"]
            =[sh -c "a; b > x"] =[a] =[b] >x
        ["env", "X=1", "rm", "$x"]
            =[env X=1 rm $x] =[X=1] =[rm $x]
        ["sudo", "sh", "-c", "rm -rf /"]
            =[sudo sh -c "rm -rf /"] =[sh -c "rm -rf /"] =[rm -rf /]
        ["rm", "*", "a b"]
            =[rm * "a b"]
        ["find", ".", "-exec", "a", "{}", ";"]
            =[find . -exec a {} ;] ?[a {}]
        ["bash", "-c", "a $x"]
            =[bash -c "a $x"] ?[a $x]
        ["LD_PRELOAD=x", "a"]
            ?[LD_PRELOAD=x a]
        []
            ?[]
        [""]
            ?[""]
    "#]]
    .assert_eq(&table);
}

/// Texts made to cost much. Twice as much of one gives about twice as many resources, never more.
#[test]
fn hostile_texts_stay_linear() {
    for piece in [
        "$(",
        "(",
        "<<A ",
        "a|",
        "a;",
        "`",
        "'",
        "\"$(",
        "sh -c ",
        "env ",
        "eval ",
        "X=1 ",
        "{ ",
        "a<b>c ",
        "\\",
        "$'\\x",
        "tmux ",
        "coproc ",
        "git -c a=b ",
        "git submodule foreach ",
        "tar -I ",
        "cat <<E\n$(\nE\n",
        "((",
    ] {
        let size = |n: usize| {
            let resources = shell::of_text(&piece.repeat(n / piece.len()));
            let words =
                |one: &Resource| if let Resource::Command { words, .. } = one { words.len() } else { 1 };
            resources.iter().map(|one| 1 + words(one)).sum::<usize>()
        };
        let (half, whole) = (size(SHELL_TEXT_BYTES_MAX / 2), size(SHELL_TEXT_BYTES_MAX));
        assert!(whole <= 2 * half + 128, "{piece:?}: {half} and then {whole}");
        assert!(size(10_000) <= 1 + 1, "{piece:?}: over the cap it is one unclear command");
    }
}

fn has_dangerous_shape() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "rm",
            "-rf",
            "/",
            " ",
            "\n",
            ";",
            "|",
            "&&",
            "$(",
            ")",
            "(",
            "{",
            "}",
            "'",
            "\"",
            "`",
            "$x",
            "<<E",
            "E",
            ">",
            "<",
            "&",
            "sh -c",
            "eval",
            "env",
            "find . -exec",
            "xargs",
            "\\",
            "if",
            "then",
            "fi",
            "for x in",
            "do",
            "done",
            "=",
            "é",
            "*",
            "[",
            "]]",
        ]),
        0..40,
    )
    .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_gives_something(text in ".{0,200}") {
        prop_assert!(!shell::of_text(&text).is_empty());
    }

    #[test]
    fn any_text_of_shell_pieces_gives_something(text in has_dangerous_shape()) {
        let resources = shell::of_text(&text);
        prop_assert!(!resources.is_empty());
        prop_assert_eq!(resources, shell::of_text(&text), "the same text gives the same");
    }

    #[test]
    fn quoting_a_word_never_changes_it(word in "[^\\p{C}']{1,40}") {
        prop_assume!(!word.chars().any(|letter| letter.is_whitespace() && letter != ' '));
        let resources = shell::of_text(&format!("echo '{word}'"));
        let unclear = Resource::Command { words: Vec::new(), exact: false };
        let expect = Resource::Command { words: vec!["echo".to_owned(), word], exact: true };
        prop_assert!(resources == [expect] || resources == [unclear]);
    }
}

#[test]
fn a_word_that_begins_a_block_behind_a_not_is_no_program() {
    // A shell runs the last command of each; the tree ends the substitution at the pattern of the case.
    for text in ["echo \"$(! case a in a) rm x;; esac)\"", "echo $(! for a in b; do rm x; done)"] {
        let resources = shell::of_text(text);
        let is_unclear = |one: &Resource| matches!(one, Resource::Command { words, .. } if words.is_empty());
        assert!(resources.iter().any(is_unclear), "{text} {}", shown(&resources));
    }
    // As a word of a command it begins nothing.
    assert_eq!(shown(&shell::of_text("! echo case for")), shown(&shell::of_text("echo case for")));
}
