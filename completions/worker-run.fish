# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_worker_run_global_optspecs
    string join \n task= prompt= role= write= read= verify= id= repo= events= record= dry-run base-url= model= context= candidates= config= no-slot engine= mode= pack= check-every= sandbox= steps= wall= output-tokens= wait= json text v/verbose q/quiet schema h/help V/version
end

function __fish_worker_run_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_worker_run_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_worker_run_using_subcommand
    set -l cmd (__fish_worker_run_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c worker-run -n "__fish_worker_run_needs_command" -l task -d 'The task/1 document; `-` or nothing reads stdin' -r -F
complete -c worker-run -n "__fish_worker_run_needs_command" -l prompt -d 'What to do, instead of a document' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l role -d 'The role: implementer, worker, explore, planner, reviewer, or your own' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l write -d 'A glob the task may change; repeat it [default: everything]' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l read -d 'A glob worth reading first; repeat it' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l verify -d 'A command that shows whether it is done; repeat it' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l id -d 'The task\'s name in the hand-off' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l repo -d 'The repository, or a folder in it' -r -F
complete -c worker-run -n "__fish_worker_run_needs_command" -l events -d 'Write events (event/1, JSON Lines) here; `-`: stdout, before the hand-off' -r -F
complete -c worker-run -n "__fish_worker_run_needs_command" -l record -d 'Write everything down here, so that the run can be replayed; a new folder' -r -F
complete -c worker-run -n "__fish_worker_run_needs_command" -l base-url -d 'The server, instead of the configured ones' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l model -d 'The model [default: `BATON_MODEL`, the configuration\'s, the server\'s]' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l context -d 'The usable context in tokens [default: `BATON_CONTEXT`, the configuration\'s, the server\'s]' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l candidates -d 'A health/1 or estimate/1 document, for what it says of the model: context, tool calls' -r -F
complete -c worker-run -n "__fish_worker_run_needs_command" -l config -d 'A configuration file instead of the user\'s' -r -F
complete -c worker-run -n "__fish_worker_run_needs_command" -l engine -d 'Who works: our own loop, opencode, or any agent\'s command, in the same bounds' -r -f -a "own\t'The loop of worker-run'
command\t'A command that reads a prompt'
opencode\t'opencode, found in PATH'"
complete -c worker-run -n "__fish_worker_run_needs_command" -l mode -d 'How the model acts: tool calls, whole files, or search/replace blocks in its reply' -r -f -a "auto\t'By what is known of the model; one that gets stuck changes over, once'
tools\t'Tool calls only'
whole\t'Whole files in fenced blocks, for models that cannot call tools'
blocks\t'Search/replace blocks, for such models and long files'"
complete -c worker-run -n "__fish_worker_run_needs_command" -l pack -d 'Files shown in the first message: auto, none, or paths with commas between' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l check-every -d 'When the task\'s checks run: after each changing call, each changing answer, or at the end' -r -f -a "step\t'After each call that changed something'
turn\t'After each answer that changed something'
end\t'When the model says it is done'"
complete -c worker-run -n "__fish_worker_run_needs_command" -l sandbox -d 'How much the kernel must confine commands; what it cannot do stands in the hand-off' -r -f -a "full\t'All borders, or no command runs'
best-effort\t'At least writes are held back'
off\t'None'"
complete -c worker-run -n "__fish_worker_run_needs_command" -l steps -d 'Turns of the model' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l wall -d 'The whole task, waiting for a slot not counted' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l output-tokens -d 'Tokens of one answer' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l wait -d 'Waiting for a slot' -r
complete -c worker-run -n "__fish_worker_run_needs_command" -l dry-run -d 'Show the first request, its tokens and the limits; send nothing'
complete -c worker-run -n "__fish_worker_run_needs_command" -l no-slot -d 'Do not take a slot; the hand-off says so'
complete -c worker-run -n "__fish_worker_run_needs_command" -l json -d 'Write JSON, also on a terminal'
complete -c worker-run -n "__fish_worker_run_needs_command" -l text -d 'Write text for people, also into a pipe or file'
complete -c worker-run -n "__fish_worker_run_needs_command" -s v -l verbose -d 'Say more on stderr'
complete -c worker-run -n "__fish_worker_run_needs_command" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c worker-run -n "__fish_worker_run_needs_command" -l schema -d 'Print the JSON Schemas of the documents this tool reads and writes'
complete -c worker-run -n "__fish_worker_run_needs_command" -s h -l help -d 'Print this help'
complete -c worker-run -n "__fish_worker_run_needs_command" -s V -l version -d 'Print version'
complete -c worker-run -n "__fish_worker_run_needs_command" -a "replay" -d 'Take a recorded run again, and see whether it comes to the same requests'
complete -c worker-run -n "__fish_worker_run_needs_command" -a "remote" -d 'Do a task that a launcher has brought to this host, in frames on stdin or in a shared folder'
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l from -d 'Take the answers before this request from the recording, then ask the server' -r
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l repo -d 'The repository [default: where it was recorded]' -r -F
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l events -d 'Write events (event/1, JSON Lines) here; `-` is stdout' -r -F
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l sandbox -d 'How much the kernel must confine commands that run live' -r -f -a "full\t'All borders, or no command runs'
best-effort\t'At least writes are held back'
off\t'None'"
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l base-url -d 'The server, instead of the configured ones' -r
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l model -d 'The model [default: `BATON_MODEL`, the configuration\'s, the server\'s]' -r
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l context -d 'The usable context in tokens [default: `BATON_CONTEXT`, the configuration\'s, the server\'s]' -r
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l candidates -d 'A health/1 or estimate/1 document, for what it says of the model: context, tool calls' -r -F
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l config -d 'A configuration file instead of the user\'s' -r -F
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l no-slot -d 'Do not take a slot; the hand-off says so'
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -s h -l help -d 'Print this help'
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l json -d 'Write JSON, also on a terminal'
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -l text -d 'Write text for people, also into a pipe or file'
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -s v -l verbose -d 'Say more on stderr'
complete -c worker-run -n "__fish_worker_run_using_subcommand replay" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c worker-run -n "__fish_worker_run_using_subcommand remote" -l folder -d 'The placement\'s folder, shared with who placed it: a path or a file:// address' -r
complete -c worker-run -n "__fish_worker_run_using_subcommand remote" -l dir -d 'Where trees are made and commits kept for later tasks [default: ~/.cache/baton/remote]' -r -F
complete -c worker-run -n "__fish_worker_run_using_subcommand remote" -s h -l help -d 'Print this help'
complete -c worker-run -n "__fish_worker_run_using_subcommand remote" -l json -d 'Write JSON, also on a terminal'
complete -c worker-run -n "__fish_worker_run_using_subcommand remote" -l text -d 'Write text for people, also into a pipe or file'
complete -c worker-run -n "__fish_worker_run_using_subcommand remote" -s v -l verbose -d 'Say more on stderr'
complete -c worker-run -n "__fish_worker_run_using_subcommand remote" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
