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
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "trust" -d 'Trust this repository\'s configuration as it is now'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "doctor" -d 'Look at all that a run needs: configuration, servers, models, git, sandbox, disk'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "init" -d 'Write this repository\'s configuration, or put a role\'s model into it'
complete -c orchestrate -n "__fish_orchestrate_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l from -d 'Work on this plan/1 document instead of asking a planner; `-` reads stdin' -r -F
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l max-parallel -d 'Workers at once, 1 to 8 [default: the configuration\'s, else 2]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l rounds -d 'Rounds of work, 1 to 8 [default: the configuration\'s, else 2]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l queue -d 'How long a worker may wait for a slot' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l wait -d 'How long to wait for another run in this repository' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l class -d 'Who is served first where slots are short: interactive (its planning goes before other people\'s workers), worker or batch [default: interactive on a terminal, else worker]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l max-requests -d 'Requests to model servers' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l max-tokens -d 'Tokens, prompt and completion' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l max-wall -d 'The whole run\'s time' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l max-cost-usd -d 'Money, where prices are configured' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l review -d 'Review the result before it reaches the branch [default: the configuration\'s, else bounded]' -r -f -a "off\t'None'
bounded\t'An explicit approval within a bounded number of rounds, else a person'"
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run" -l events -d 'Also write the run\'s events here, as JSON Lines' -r -F
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
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l dry-run -d 'Print what would be worked on, as a plan/1 document, and start nothing'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l allow-dirty -d 'Start from the last commit although there are uncommitted changes'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand run-plan" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
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
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand restructure" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -l since -d 'What counts as changed: since this commit or branch [default: where this branch left the main one]' -r
complete -c orchestrate -n "__fish_orchestrate_using_subcommand polish" -l verify -d 'What must pass before and after (repeatable) [default: the repository\'s own checks]' -r
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
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -s h -l help -d 'Print this help'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -l json -d 'Write JSON, also on a terminal'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -l text -d 'Write text for people, also into a pipe or file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -s v -l verbose -d 'Say more on stderr'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand init" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "run" -d 'Work on a goal in this repository'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "goal" -d 'Set a goal that outlives a run, and work on it until it is reached'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "run-plan" -d 'Work through a written plan, and keep its ticks and its status true'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "stress-plan" -d 'Draft a plan, have it criticised from four angles, and write its final form to a file'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "restructure" -d 'Change the form of code and not what it does: the same checks before and after'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "polish" -d 'Clean up what changed on this branch, and nothing else'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "handover" -d 'Print a brief for whoever takes over'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "resume" -d 'Go on with a run that was halted, interrupted, killed, or that lacked a server'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "status" -d 'Say which runs there are and how far each task is'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "show" -d 'Show a run\'s report, also of one that goes on'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "halt" -d 'Ask what works here to stop at the next safe point'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "clean" -d 'Remove work trees and branches of ended runs that hold nothing of their own'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "trust" -d 'Trust this repository\'s configuration as it is now'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "doctor" -d 'Look at all that a run needs: configuration, servers, models, git, sandbox, disk'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "init" -d 'Write this repository\'s configuration, or put a role\'s model into it'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and not __fish_seen_subcommand_from run goal run-plan stress-plan restructure polish handover resume status show halt clean trust doctor init help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from goal" -f -a "pause" -d 'Begin nothing new for it until it is resumed'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from goal" -f -a "resume" -d 'Make it active again; `goal run` then works on it'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from goal" -f -a "clear" -d 'Take it away. What was done for it stays'
complete -c orchestrate -n "__fish_orchestrate_using_subcommand help; and __fish_seen_subcommand_from goal" -f -a "run" -d 'Work on it until it is reached or needs a person'
