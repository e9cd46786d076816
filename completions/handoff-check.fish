# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_handoff_check_global_optspecs
    string join \n task= repo= base= rerun repeat= red-first with= no-sandbox strict review-required protect= protect-ci from= emit= explain json text v/verbose q/quiet schema h/help V/version
end

function __fish_handoff_check_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_handoff_check_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_handoff_check_using_subcommand
    set -l cmd (__fish_handoff_check_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c handoff-check -n "__fish_handoff_check_needs_command" -l task -d 'The task/1 document the report answers: its scope, its base, its verification commands' -r -F
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l repo -d 'The work tree to look at. Nothing in it, or in its repository, is changed' -r -F
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l base -d 'Measure against this commit or tree instead of the task\'s `base`' -r
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l repeat -d 'Run each command N times; different results are called flaky (implies --rerun)' -r
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l with -d 'Copy this untracked or ignored path into the scratch copy, for example `node_modules`' -r -F
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l protect -d 'No change here, whatever the scope says (besides .git and .orchestrator)' -r
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l from -d 'Read the report only in this form, and (without --task) write it as handoff/1' -r -f -a "auto\t'Whatever is there'
handoff\t'handoff/1'
envelope\t'The version-1 envelope'
markdown\t'Four or five headings'"
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l emit -d 'Judge nothing; write the report in this form' -r -f -a "handoff\t'handoff/1'
envelope\t'The version-1 envelope'
markdown\t'Outcome / Files / Verification / Risks / Follow-up'
markdown-4\t'Summary / Files changed / Verification / Open issues'"
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l rerun -d 'Run the task\'s verification commands again, in a scratch copy of exactly this tree'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l red-first -d 'Also show that the changed tests fail on the base without the work (implies --rerun)'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l no-sandbox -d 'Run the commands without the kernel\'s border around them'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l strict -d 'Warnings count as failures'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l review-required -d 'The work must be reviewed: a true hand-off is then review-pending, not admitted'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l protect-ci -d 'No change to what continuous integration runs (.github/workflows, .gitlab-ci.yml, …)'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l explain -d 'Print what each check proves, and how'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l json -d 'Write JSON, also on a terminal'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l text -d 'Write text for people, also into a pipe or file'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -s v -l verbose -d 'Say more on stderr'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -l schema -d 'Print the JSON Schemas of the documents this tool reads and writes'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -s h -l help -d 'Print this help'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -s V -l version -d 'Print version'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -a "scope" -d 'Only the question of ownership, for a diff on standard input'
complete -c handoff-check -n "__fish_handoff_check_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c handoff-check -n "__fish_handoff_check_using_subcommand scope" -l allow -d 'A file or folder that may change; repeat it for more. None: nothing may change' -r
complete -c handoff-check -n "__fish_handoff_check_using_subcommand scope" -l protect -d 'No change here, whatever the scope says (besides .git and .orchestrator)' -r
complete -c handoff-check -n "__fish_handoff_check_using_subcommand scope" -l protect-ci -d 'No change to what continuous integration runs (.github/workflows, .gitlab-ci.yml, …)'
complete -c handoff-check -n "__fish_handoff_check_using_subcommand scope" -s h -l help -d 'Print this help'
complete -c handoff-check -n "__fish_handoff_check_using_subcommand scope" -l json -d 'Write JSON, also on a terminal'
complete -c handoff-check -n "__fish_handoff_check_using_subcommand scope" -l text -d 'Write text for people, also into a pipe or file'
complete -c handoff-check -n "__fish_handoff_check_using_subcommand scope" -s v -l verbose -d 'Say more on stderr'
complete -c handoff-check -n "__fish_handoff_check_using_subcommand scope" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c handoff-check -n "__fish_handoff_check_using_subcommand help; and not __fish_seen_subcommand_from scope help" -f -a "scope" -d 'Only the question of ownership, for a diff on standard input'
complete -c handoff-check -n "__fish_handoff_check_using_subcommand help; and not __fish_seen_subcommand_from scope help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
