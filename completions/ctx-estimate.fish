complete -c ctx-estimate -l request -d 'Count a chat request: its messages, tools and template' -r -F
complete -c ctx-estimate -l task -d 'Count the first request of a task/1 document' -r -F
complete -c ctx-estimate -l repo -d 'The repository the task is about' -r -F
complete -c ctx-estimate -l candidates -d 'Judge the providers of a health/1 document (`-`: standard input)' -r -F
complete -c ctx-estimate -l window -d 'Judge one window of this many tokens' -r
complete -c ctx-estimate -l output -d 'Tokens kept for the answer [default: what the request or task says, else 4096]' -r
complete -c ctx-estimate -l thinking -d 'Tokens kept for thinking [default: what the task says, else 0]' -r
complete -c ctx-estimate -l margin -d 'Tokens kept for what the count may miss' -r
complete -c ctx-estimate -l model -d 'The model: which candidate to judge, and a hint at the tokenizer family' -r
complete -c ctx-estimate -l tokenizer -d 'A tokenizer.json, model folder or GGUF file to count with; or a family to estimate by: qwen, llama3, gpt-oss, deepseek, gemma' -r
complete -c ctx-estimate -l template -d 'The chat template (Jinja) in place of the one that comes with the tokenizer' -r -F
complete -c ctx-estimate -l method -d 'How to count' -r -f -a "auto\t'The best there is: the server\'s count, the model\'s tokenizer, its family, the bytes'
server\t'The server\'s own count, or nothing'
tokenizer\t'A tokenizer on this machine, or nothing'
heuristic\t'The class model or the bytes'"
complete -c ctx-estimate -l cache -d 'Compiled tokenizers: build them from the given paths (or from what a server has its model from: its URL, or `server`), list, verify or prune them' -r -f -a "build\t'Compile the named tokenizers anew'
list\t'Say which there are'
verify\t'The same; the exit code is 1 when one is damaged'
prune\t'Remove what is damaged or out of date'"
complete -c ctx-estimate -l top -d 'Show only the N largest files (or folders)' -r
complete -c ctx-estimate -l trim -d 'Print the longest part of the text that has at most this many tokens, at line borders' -r
complete -c ctx-estimate -l offline -d 'Ask no server'
complete -c ctx-estimate -l all -d 'Count files that .gitignore names, and hidden ones, too'
complete -c ctx-estimate -l tree -d 'Add up by folder, like du'
complete -c ctx-estimate -l lines -d 'Write JSON Lines: one object a file, then the total'
complete -c ctx-estimate -l head -d 'Keep the beginning (the default)'
complete -c ctx-estimate -l tail -d 'Keep the end'
complete -c ctx-estimate -l middle -d 'Keep beginning and end, cut the middle out'
complete -c ctx-estimate -l json -d 'Write JSON, also on a terminal'
complete -c ctx-estimate -l text -d 'Write text for people, also into a pipe or file'
complete -c ctx-estimate -s v -l verbose -d 'Say more on stderr'
complete -c ctx-estimate -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c ctx-estimate -l schema -d 'Print the JSON Schemas of the documents this tool reads and writes'
complete -c ctx-estimate -s h -l help -d 'Print this help'
complete -c ctx-estimate -s V -l version -d 'Print version'
