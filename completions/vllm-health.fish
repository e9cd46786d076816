complete -c vllm-health -l base-url -d 'The same as URL, in worker-run\'s spelling' -r
complete -c vllm-health -l model -d 'The model that must be served, by its exact name or an alias' -r
complete -c vllm-health -l min-context -d 'The context one request must be able to use, in tokens (16k = 16,000)' -r
complete -c vllm-health -l wait -d 'Wait until ready, at most this long (10m when no limit is given)' -r
complete -c vllm-health -l probe -d 'Send one small request, if a slot is free: one token, or `=tools` (a tool call), or `=json` (an answer that follows a schema)' -r
complete -c vllm-health -l watch -d 'Ask again and again, with this pause' -r
complete -c vllm-health -l samples -d 'Look several times; a request in work and counters that stand still mean `stalled`' -r
complete -c vllm-health -l interval -d 'The pause between two samples' -r
complete -c vllm-health -l timeout -d 'The limit for asking all servers, who are asked side by side' -r
complete -c vllm-health -l kind -d 'The kind of server, where it is not recognised: vllm, llamacpp, llamacpp-router, ollama, lmstudio, sglang, tgi, llama-swap, skein, litellm or openai' -r
complete -c vllm-health -l slots -d 'Requests a server works on at once, where it does not tell (vLLM does not)' -r
complete -c vllm-health -l cacert -d 'A PEM file with the certificate authority of a server with its own' -r -F
complete -c vllm-health -l config -d 'Another configuration file than the user\'s' -r -F
complete -c vllm-health -l all -d 'Ready means: every server is. The default is --any'
complete -c vllm-health -l any -d 'Ready means: one of the servers is'
complete -c vllm-health -l insecure -d 'Do not verify the server\'s certificate'
complete -c vllm-health -l json -d 'Write JSON, also on a terminal'
complete -c vllm-health -l text -d 'Write text for people, also into a pipe or file'
complete -c vllm-health -s v -l verbose -d 'Say more on stderr'
complete -c vllm-health -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c vllm-health -l schema -d 'Print the JSON Schemas of the documents this tool reads and writes'
complete -c vllm-health -s h -l help -d 'Print this help'
complete -c vllm-health -s V -l version -d 'Print version'
