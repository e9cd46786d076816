# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_slot_lock_global_optspecs
    string join \n slots= key= provider= candidates= on-unknown= prefer= ignore-server reserve-interactive= tokens= allow-network-fs store= on-unavailable= wait= class= report= max-hold= on-lost= exec nested= json text v/verbose q/quiet schema h/help V/version
end

function __fish_slot_lock_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_slot_lock_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_slot_lock_using_subcommand
    set -l cmd (__fish_slot_lock_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c slot-lock -n "__fish_slot_lock_needs_command" -l slots -d 'How many there are [default: as configured, else as the server says, else as last counted, else 2 for vLLM, else 1]' -r
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l key -d 'Count by this name or URL instead of the provider\'s address' -r
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l provider -d 'The configured provider to take a slot of [default: the first]' -r
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l candidates -d 'Choose among the providers of a health/1 or estimate/1 document; `-` reads stdin' -r -F
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l on-unknown -d 'What to do while it is unknown of every candidate whether it is ready or fits' -r -f -a "wait\t'Ask again until it is known or the wait is over; then exit 3'
skip\t'Leave it out; when nothing else is left, exit 3'
go\t'Take it all the same'"
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l prefer -d 'Which of several free candidates is taken; ties go to the least recently used' -r -f -a "listed\t'The first of the document'
resident\t'One whose model is in memory already'
fastest\t'The one that generates fastest'"
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l reserve-interactive -d 'Slots kept free for class interactive [default: as configured]' -r
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l tokens -d 'Reserve this many tokens of the server\'s pool as well' -r
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l store -d 'Count for several hosts, in etcd://HOST:PORT[,HOST:PORT]/PREFIX' -r
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l on-unavailable -d 'Without that cluster at the start: fail (69), or local' -r -f -a "fail\t'Exit 69'
local\t'Use the slot files of this host, and say so'"
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l wait -d 'How long to wait for a slot; 0 tries once and never overtakes a queue' -r
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l class -d 'Who is served first: interactive, worker or batch' -r
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l report -d 'Write the reservation/1 here: what was reserved, or who is in the way' -r -F
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l max-hold -d 'End the command after this long (TERM, KILL 5 s later) and exit 124' -r
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l on-lost -d 'With --store, when the slot is lost: warn and go on, or end the command (75)' -r -f -a "warn\t'It goes on; the slot is taken again when it is free'
end\t'It is ended before another can be given the slot'"
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l nested -d 'Below a slot-lock that holds a slot of the same server: use its slot, refuse (75), or queue' -r -f -a "share\t'Run in the ancestor\'s slot'
refuse\t'Exit 75 at once'
queue\t'Take another slot, waiting for it if need be'"
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l ignore-server -d 'Do not ask the server about its slots and its other work'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l allow-network-fs -d 'Allow a network file system, whose locks may hold on one host only'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l exec -d 'Become the command instead of waiting for it'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l json -d 'Write JSON, also on a terminal'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l text -d 'Write text for people, also into a pipe or file'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -s v -l verbose -d 'Say more on stderr'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -l schema -d 'Print the JSON Schemas of the documents this tool reads and writes'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -s h -l help -d 'Print this help'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -s V -l version -d 'Print version'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -a "status" -d 'Say who holds which slot since when, and who waits'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -a "acquire" -d 'Take a slot without a command: for a script that holds it, or with a time to live'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -a "renew" -d 'Set a new end for a slot taken by `acquire`; exit 1 when it is lost'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -a "release" -d 'Give back a slot taken by `acquire`'
complete -c slot-lock -n "__fish_slot_lock_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -l store -d 'Count for several hosts, in etcd://HOST:PORT[,HOST:PORT]/PREFIX' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -l on-unavailable -d 'Without that cluster at the start: fail (69), or local' -r -f -a "fail\t'Exit 69'
local\t'Use the slot files of this host, and say so'"
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -l watch -d 'Look again every second until interrupted; in a pipe, one document a change'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -l server -d 'Ask every server what it says of its slots, also one whose slots nobody uses now'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -l ignore-server -d 'Ask no server'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -s h -l help -d 'Print this help'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -l allow-network-fs -d 'Allow a network file system, whose locks may hold on one host only'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -l json -d 'Write JSON, also on a terminal'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -l text -d 'Write text for people, also into a pipe or file'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -s v -l verbose -d 'Say more on stderr'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand status" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l slots -d 'How many there are [default: as configured, else as the server says, else as last counted, else 2 for vLLM, else 1]' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l key -d 'Count by this name or URL instead of the provider\'s address' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l provider -d 'The configured provider to take a slot of [default: the first]' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l candidates -d 'Choose among the providers of a health/1 or estimate/1 document; `-` reads stdin' -r -F
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l on-unknown -d 'What to do while it is unknown of every candidate whether it is ready or fits' -r -f -a "wait\t'Ask again until it is known or the wait is over; then exit 3'
skip\t'Leave it out; when nothing else is left, exit 3'
go\t'Take it all the same'"
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l prefer -d 'Which of several free candidates is taken; ties go to the least recently used' -r -f -a "listed\t'The first of the document'
resident\t'One whose model is in memory already'
fastest\t'The one that generates fastest'"
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l reserve-interactive -d 'Slots kept free for class interactive [default: as configured]' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l tokens -d 'Reserve this many tokens of the server\'s pool as well' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l wait -d 'How long to wait for a slot; 0 tries once and never overtakes a queue' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l class -d 'Who is served first: interactive, worker or batch' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l report -d 'Write the reservation/1 here: what was reserved, or who is in the way' -r -F
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l ttl -d 'Give the slot back after this long [default: 1h; with --until-eof: never]' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l holder-pid -d 'Give the slot back when this process ends; `parent` is the calling shell' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l store -d 'Count for several hosts, in etcd://HOST:PORT[,HOST:PORT]/PREFIX' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l on-unavailable -d 'Without that cluster at the start: fail (69), or local' -r -f -a "fail\t'Exit 69'
local\t'Use the slot files of this host, and say so'"
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l ignore-server -d 'Do not ask the server about its slots and its other work'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l until-eof -d 'Stay, and hold the slot until stdin ends'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -s h -l help -d 'Print this help'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l allow-network-fs -d 'Allow a network file system, whose locks may hold on one host only'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l json -d 'Write JSON, also on a terminal'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -l text -d 'Write text for people, also into a pipe or file'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -s v -l verbose -d 'Say more on stderr'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand acquire" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand renew" -l ttl -d 'The new time to live, from now on [default: 1h]' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand renew" -l store -d 'Count for several hosts, in etcd://HOST:PORT[,HOST:PORT]/PREFIX' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand renew" -l on-unavailable -d 'Without that cluster at the start: fail (69), or local' -r -f -a "fail\t'Exit 69'
local\t'Use the slot files of this host, and say so'"
complete -c slot-lock -n "__fish_slot_lock_using_subcommand renew" -s h -l help -d 'Print this help'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand renew" -l allow-network-fs -d 'Allow a network file system, whose locks may hold on one host only'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand renew" -l json -d 'Write JSON, also on a terminal'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand renew" -l text -d 'Write text for people, also into a pipe or file'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand renew" -s v -l verbose -d 'Say more on stderr'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand renew" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand release" -l store -d 'Count for several hosts, in etcd://HOST:PORT[,HOST:PORT]/PREFIX' -r
complete -c slot-lock -n "__fish_slot_lock_using_subcommand release" -l on-unavailable -d 'Without that cluster at the start: fail (69), or local' -r -f -a "fail\t'Exit 69'
local\t'Use the slot files of this host, and say so'"
complete -c slot-lock -n "__fish_slot_lock_using_subcommand release" -s h -l help -d 'Print this help'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand release" -l allow-network-fs -d 'Allow a network file system, whose locks may hold on one host only'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand release" -l json -d 'Write JSON, also on a terminal'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand release" -l text -d 'Write text for people, also into a pipe or file'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand release" -s v -l verbose -d 'Say more on stderr'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand release" -s q -l quiet -d 'Say nothing but errors; the exit code is the answer'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand help; and not __fish_seen_subcommand_from status acquire renew release help" -f -a "status" -d 'Say who holds which slot since when, and who waits'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand help; and not __fish_seen_subcommand_from status acquire renew release help" -f -a "acquire" -d 'Take a slot without a command: for a script that holds it, or with a time to live'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand help; and not __fish_seen_subcommand_from status acquire renew release help" -f -a "renew" -d 'Set a new end for a slot taken by `acquire`; exit 1 when it is lost'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand help; and not __fish_seen_subcommand_from status acquire renew release help" -f -a "release" -d 'Give back a slot taken by `acquire`'
complete -c slot-lock -n "__fish_slot_lock_using_subcommand help; and not __fish_seen_subcommand_from status acquire renew release help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
