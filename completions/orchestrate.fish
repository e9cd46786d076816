# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_orchestrate_global_optspecs
    string join \n json text v/verbose q/quiet schema h/help V/version
end

function __fish_orchestrate_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_orchestrate_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_orchestrate_using_subcommand
    set -l cmd (__fish_orchestrate_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c orchestrate -n "__fish_orchestrate_needs_command" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -l schema -d 'Print the JSON Schemas of the documents this tool reads and writes'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -s V -l version -d 'Print version'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "run" -d 'Work on a goal in this repository'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "goal" -d 'Set a goal that outlives a run, and work on it until it is reached'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "run-plan" -d 'Work through a written plan, and keep its ticks and its status true'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "stress-plan" -d 'Draft a plan, have it criticised from four angles, and write its final form to a file'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "restructure" -d 'Change the form of code and not what it does: the same checks before and after'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "polish" -d 'Clean up what changed on this branch, and nothing else'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "handover" -d 'Print a brief for whoever takes over'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "resume" -d 'Go on with a run that was halted, interrupted, killed, or that lacked a server'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "status" -d 'Say which runs there are and how far each task is'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "show" -d 'Show a run\'s report, also of one that goes on'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "halt" -d 'Ask what works here to stop at the next safe point'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "clean" -d 'Remove work trees and branches of ended runs that hold nothing of their own'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "worktree" -d 'Make, look at, push and clean up work trees beside those of runs'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "github" -d 'Read and create issues and pull requests, through `gh` only'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "trust" -d 'Trust this repository\'s configuration as it is now'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "doctor" -d 'Look at all that a run needs: configuration, servers, models, git, sandbox, disk'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "init" -d 'Write this repository\'s configuration, or put a role\'s model into it'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l from -d 'Work on this plan/1 document instead of asking a planner; `-` reads stdin' -r -F
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l issue -d 'Work on this GitHub issue (needs [github] enabled); GOAL then says what about it' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l max-parallel -d 'Workers at once, 1 to 8 [default: the configuration\'s, else 2]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l rounds -d 'Rounds of work, 1 to 8 [default: the configuration\'s, else 2]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l queue -d 'How long a worker may wait for a slot' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l wait -d 'How long to wait for another run in this repository' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l class -d 'Who is served first where slots are short: interactive (its planning goes before other people\'s workers), worker or batch [default: interactive on a terminal, else worker]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l max-requests -d 'Requests to model servers' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l max-tokens -d 'Tokens, prompt and completion' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l max-wall -d 'The whole run\'s time' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l max-cost-usd -d 'Money, where prices are configured' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l launcher -d 'Put this command before each worker, as in \'srun -N1\' or \'ssh box2\'; \'\' starts them here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l launcher-io -d 'How task and hand-off travel then: in the same folders, or by the command\'s stdin and stdout' -r -f -a "shared\t'The worker sees the same folders under the same names'
stream\t'Nothing is shared'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l review -d 'Review the result before it reaches the branch [default: the configuration\'s, else bounded]' -r -f -a "off\t'None'
bounded\t'An explicit approval within a bounded number of rounds, else a person'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l events -d 'Also write the run\'s events here, as JSON Lines' -r -F
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l pr -d 'When it is completed, push the run\'s branch and open a pull request (needs `allow_mutations`)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l confirm -d 'Yes, push and open the pull request of --pr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l one -d 'Ask no planner: one worker gets the goal as it is'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l plan-only -d 'Print the plan and stop'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l dry-run -d 'Check everything, send no request, print what would be worked on first'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l summary -d 'Have a model sum the run up at the end'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l merge-partial -d 'Let integrated work reach the branch although the run has gaps'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l allow-dirty -d 'Start from the last commit although there are uncommitted changes'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -l launcher -d 'Put this command before each worker, as in \'srun -N1\' or \'ssh box2\'; \'\' starts them here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -l launcher-io -d 'How task and hand-off travel then: in the same folders, or by the command\'s stdin and stdout' -r -f -a "shared\t'The worker sees the same folders under the same names'
stream\t'Nothing is shared'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -l detach -d 'Work in the background; it survives the terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -a "pause" -d 'Begin nothing new for it until it is resumed'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -a "resume" -d 'Make it active again; `goal run` then works on it'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -a "clear" -d 'Take it away. What was done for it stays'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -a "run" -d 'Work on it until it is reached or needs a person'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and not __fish_seen_subcommand_from pause resume clear run help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from pause" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from pause" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from pause" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from pause" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from pause" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from resume" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from resume" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from resume" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from resume" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from clear" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from clear" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from clear" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from clear" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from run" -l launcher -d 'Put this command before each worker, as in \'srun -N1\' or \'ssh box2\'; \'\' starts them here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from run" -l launcher-io -d 'How task and hand-off travel then: in the same folders, or by the command\'s stdin and stdout' -r -f -a "shared\t'The worker sees the same folders under the same names'
stream\t'Nothing is shared'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from run" -l detach -d 'Work in the background; it survives the terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from run" -l detached -d 'We are the one in the background'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from run" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from run" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from run" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from run" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from help" -f -a "pause" -d 'Begin nothing new for it until it is resumed'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from help" -f -a "resume" -d 'Make it active again; `goal run` then works on it'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from help" -f -a "clear" -d 'Take it away. What was done for it stays'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from help" -f -a "run" -d 'Work on it until it is reached or needs a person'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand goal; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l max-parallel -d 'Workers at once, 1 to 8 [default: the configuration\'s, else 2]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l wait -d 'How long to wait for another run in this repository' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l launcher -d 'Put this command before each worker, as in \'srun -N1\' or \'ssh box2\'; \'\' starts them here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l launcher-io -d 'How task and hand-off travel then: in the same folders, or by the command\'s stdin and stdout' -r -f -a "shared\t'The worker sees the same folders under the same names'
stream\t'Nothing is shared'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l dry-run -d 'Print what would be worked on, as a plan/1 document, and start nothing'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l allow-dirty -d 'Start from the last commit although there are uncommitted changes'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand stress-plan" -l launcher -d 'Put this command before each worker, as in \'srun -N1\' or \'ssh box2\'; \'\' starts them here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand stress-plan" -l launcher-io -d 'How task and hand-off travel then: in the same folders, or by the command\'s stdin and stdout' -r -f -a "shared\t'The worker sees the same folders under the same names'
stream\t'Nothing is shared'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand stress-plan" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand stress-plan" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand stress-plan" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand stress-plan" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand stress-plan" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -l scope -d 'Which files may be changed' -r -f -a "file\t'The file itself'
module\t'Its folder, with all below'
project\t'Everything'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -l risk -d 'How much may change inside them' -r -f -a "conservative\t'No public name changes'
broad\t'Public names may change where all uses are changed too'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -l verify -d 'What must pass before and after (repeatable) [default: the repository\'s own checks]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -l aim -d 'What is to become of it, in plain words' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -l launcher -d 'Put this command before each worker, as in \'srun -N1\' or \'ssh box2\'; \'\' starts them here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -l launcher-io -d 'How task and hand-off travel then: in the same folders, or by the command\'s stdin and stdout' -r -f -a "shared\t'The worker sees the same folders under the same names'
stream\t'Nothing is shared'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -l since -d 'What counts as changed: since this commit or branch [default: where this branch left the main one]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -l verify -d 'What must pass before and after (repeatable) [default: the repository\'s own checks]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -l launcher -d 'Put this command before each worker, as in \'srun -N1\' or \'ssh box2\'; \'\' starts them here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -l launcher-io -d 'How task and hand-off travel then: in the same folders, or by the command\'s stdin and stdout' -r -f -a "shared\t'The worker sees the same folders under the same names'
stream\t'Nothing is shared'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand handover" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand handover" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand handover" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand handover" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand handover" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand resume" -l wait -d 'How long to wait for another run in this repository' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand resume" -l events -d 'Also write the run\'s events here, as JSON Lines' -r -F
complete -c orchestrate -n "__fish_orchestrate_using_subcommand resume" -l launcher -d 'Put this command before each worker, as in \'srun -N1\' or \'ssh box2\'; \'\' starts them here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand resume" -l launcher-io -d 'How task and hand-off travel then: in the same folders, or by the command\'s stdin and stdout' -r -f -a "shared\t'The worker sees the same folders under the same names'
stream\t'Nothing is shared'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand resume" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand resume" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand resume" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand resume" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand resume" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand status" -l watch -d 'Show it again whenever it changes, until Ctrl-C'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand status" -l all -d 'Also the runs that have ended (the last one is always shown)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand status" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand status" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand status" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand status" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand status" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand show" -l html -d 'Write one self-contained HTML page: timeline, tasks, checks, diffs'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand show" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand show" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand show" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand show" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand show" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand halt" -l now -d 'End the workers at once instead of letting them finish'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand halt" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand halt" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand halt" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand halt" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand halt" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand clean" -l yes -d 'Do it; without this, only say what would be removed'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand clean" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand clean" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand clean" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand clean" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand clean" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -f -a "list" -d 'Say which work trees there are and how each one is'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -f -a "create" -d 'Make one on a new branch, with [worktree] copy and setup'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -f -a "status" -d 'Say all that is known of one'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -f -a "push" -d 'Push one\'s branch'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -f -a "cleanup" -d 'Remove those that hold nothing of their own; their branches stay'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and not __fish_seen_subcommand_from list create status push cleanup help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from list" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from list" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from create" -l branch -d 'Its branch; one that exists is checked out [default: baton/NAME]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from create" -l from -d 'Where a new branch begins' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from create" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from create" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from create" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from status" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from status" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from status" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from status" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from push" -l remote -d 'Where to' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from push" -l confirm -d 'Yes, push it'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from push" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from push" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from push" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from push" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from push" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from cleanup" -l confirm -d 'Do it; without this, only say what would be removed'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from cleanup" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from cleanup" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from cleanup" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from cleanup" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from cleanup" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from help" -f -a "list" -d 'Say which work trees there are and how each one is'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from help" -f -a "create" -d 'Make one on a new branch, with [worktree] copy and setup'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from help" -f -a "status" -d 'Say all that is known of one'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from help" -f -a "push" -d 'Push one\'s branch'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from help" -f -a "cleanup" -d 'Remove those that hold nothing of their own; their branches stay'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand worktree; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and not __fish_seen_subcommand_from status issue pr help" -l repo -d 'Another repository than the one gh finds here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and not __fish_seen_subcommand_from status issue pr help" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and not __fish_seen_subcommand_from status issue pr help" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and not __fish_seen_subcommand_from status issue pr help" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and not __fish_seen_subcommand_from status issue pr help" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and not __fish_seen_subcommand_from status issue pr help" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and not __fish_seen_subcommand_from status issue pr help" -f -a "status" -d 'Say whether gh is there, logged in, and for which repository'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and not __fish_seen_subcommand_from status issue pr help" -f -a "issue" -d 'List, read and create issues'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and not __fish_seen_subcommand_from status issue pr help" -f -a "pr" -d 'List, read and create pull requests'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and not __fish_seen_subcommand_from status issue pr help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from status" -l repo -d 'Another repository than the one gh finds here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from status" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from status" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from status" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from status" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from issue" -l repo -d 'Another repository than the one gh finds here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from issue" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from issue" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from issue" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from issue" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from issue" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from issue" -f -a "list" -d 'List issues'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from issue" -f -a "view" -d 'Read one, with its comments'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from issue" -f -a "create" -d 'Create one, unless an open one has the same title'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from issue" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from pr" -l repo -d 'Another repository than the one gh finds here' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from pr" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from pr" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from pr" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from pr" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from pr" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from pr" -f -a "list" -d 'List pull requests'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from pr" -f -a "view" -d 'Read one, with its checks'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from pr" -f -a "create" -d 'Push this branch and open a pull request for it, unless there is an open one'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from pr" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from help" -f -a "status" -d 'Say whether gh is there, logged in, and for which repository'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from help" -f -a "issue" -d 'List, read and create issues'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from help" -f -a "pr" -d 'List, read and create pull requests'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand github; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand trust" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand trust" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand trust" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand trust" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand trust" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand doctor" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand doctor" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand doctor" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand doctor" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand doctor" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -l model -d 'A model for a role, with the effort it is asked for, as in reviewer=arc/qwen38#high (repeatable)' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -l opencode -d 'Also write what opencode needs: provider, model limits, agents and commands. What is there stays'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "run" -d 'Work on a goal in this repository'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "goal" -d 'Set a goal that outlives a run, and work on it until it is reached'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "run-plan" -d 'Work through a written plan, and keep its ticks and its status true'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "stress-plan" -d 'Draft a plan, have it criticised from four angles, and write its final form to a file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "restructure" -d 'Change the form of code and not what it does: the same checks before and after'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "polish" -d 'Clean up what changed on this branch, and nothing else'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "handover" -d 'Print a brief for whoever takes over'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "resume" -d 'Go on with a run that was halted, interrupted, killed, or that lacked a server'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "status" -d 'Say which runs there are and how far each task is'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "show" -d 'Show a run\'s report, also of one that goes on'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "halt" -d 'Ask what works here to stop at the next safe point'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "clean" -d 'Remove work trees and branches of ended runs that hold nothing of their own'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "worktree" -d 'Make, look at, push and clean up work trees beside those of runs'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "github" -d 'Read and create issues and pull requests, through `gh` only'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "trust" -d 'Trust this repository\'s configuration as it is now'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "doctor" -d 'Look at all that a run needs: configuration, servers, models, git, sandbox, disk'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "init" -d 'Write this repository\'s configuration, or put a role\'s model into it'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from goal" -f -a "pause" -d 'Begin nothing new for it until it is resumed'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from goal" -f -a "resume" -d 'Make it active again; `goal run` then works on it'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from goal" -f -a "clear" -d 'Take it away. What was done for it stays'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from goal" -f -a "run" -d 'Work on it until it is reached or needs a person'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from worktree" -f -a "list" -d 'Say which work trees there are and how each one is'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from worktree" -f -a "create" -d 'Make one on a new branch, with [worktree] copy and setup'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from worktree" -f -a "status" -d 'Say all that is known of one'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from worktree" -f -a "push" -d 'Push one\'s branch'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from worktree" -f -a "cleanup" -d 'Remove those that hold nothing of their own; their branches stay'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from github" -f -a "status" -d 'Say whether gh is there, logged in, and for which repository'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from github" -f -a "issue" -d 'List, read and create issues'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from github" -f -a "pr" -d 'List, read and create pull requests'
