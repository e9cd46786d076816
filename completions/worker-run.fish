complete -c worker-run -l task -d 'The task/1 document; `-` or nothing reads stdin' -r -F
complete -c worker-run -l prompt -d 'What to do, instead of a document' -r
complete -c worker-run -l role -d 'The role: implementer, worker, explore, planner, reviewer, or a configured one' -r
complete -c worker-run -l write -d 'A glob the task may change; repeat it [default: everything]' -r
complete -c worker-run -l read -d 'A glob worth reading first; repeat it' -r
complete -c worker-run -l verify -d 'A command that shows whether it is done; repeat it' -r
complete -c worker-run -l id -d 'The task\'s name in the hand-off' -r
complete -c worker-run -l repo -d 'The repository, or a folder in it' -r -F
complete -c worker-run -l events -d 'Write events (event/1, JSON Lines) here; `-` is stdout, the hand-off comes last then' -r -F
complete -c worker-run -l base-url -d 'The server, instead of the configured ones' -r
complete -c worker-run -l model -d 'The model [default: `BATON_MODEL`, the configuration\'s, the server\'s]' -r
complete -c worker-run -l context -d 'The usable context in tokens [default: `BATON_CONTEXT`, the configuration\'s, the server\'s]' -r
complete -c worker-run -l config -d 'A configuration file instead of the user\'s' -r -F
complete -c worker-run -l mode -d 'How the model acts: tool calls, whole files, or search/replace blocks in its reply' -r -f -a "auto\t'Tool calls; replies with file blocks are understood as well'
tools\t'Tool calls only'
whole\t'Whole files in fenced blocks, for models that cannot call tools'
blocks\t'Search/replace blocks, for such models and long files'"
complete -c worker-run -l pack -d 'Files shown in the first message: auto, none, or paths with commas between' -r
complete -c worker-run -l check-every -d 'When the task\'s checks run: after each changing call, each changing answer, or at the end' -r -f -a "step\t'After each call that changed something'
turn\t'After each answer that changed something'
end\t'When the model says it is done'"
complete -c worker-run -l sandbox -d 'How much the kernel must confine commands; what it cannot do stands in the hand-off' -r -f -a "full\t'All borders, or no command runs'
best-effort\t'At least writes are held back'
off\t'None'"
complete -c worker-run -l steps -d 'Turns of the model' -r
complete -c worker-run -l wall -d 'The whole task, waiting for a slot not counted' -r
complete -c worker-run -l output-tokens -d 'Tokens of one answer' -r
complete -c worker-run -l wait -d 'Waiting for a slot' -r
complete -c worker-run -l dry-run -d 'Show the first request, its tokens and the limits; send nothing'
complete -c worker-run -l no-slot -d 'Do not take a slot; the hand-off says so'
complete -c worker-run -l json -d 'Write JSON, also on a terminal'
complete -c worker-run -l text -d 'Write text for people, also into a pipe or file'
complete -c worker-run -s v -l verbose -d 'Say more on stderr'
complete -c worker-run -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c worker-run -l schema -d 'Print the JSON Schemas of the documents this tool reads and writes'
complete -c worker-run -s h -l help -d 'Print this help'
complete -c worker-run -s V -l version -d 'Print version'
