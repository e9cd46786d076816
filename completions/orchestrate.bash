_orchestrate() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="orchestrate"
                ;;
            orchestrate,clean)
                cmd="orchestrate__subcmd__clean"
                ;;
            orchestrate,doctor)
                cmd="orchestrate__subcmd__doctor"
                ;;
            orchestrate,github)
                cmd="orchestrate__subcmd__github"
                ;;
            orchestrate,goal)
                cmd="orchestrate__subcmd__goal"
                ;;
            orchestrate,halt)
                cmd="orchestrate__subcmd__halt"
                ;;
            orchestrate,handover)
                cmd="orchestrate__subcmd__handover"
                ;;
            orchestrate,help)
                cmd="orchestrate__subcmd__help"
                ;;
            orchestrate,init)
                cmd="orchestrate__subcmd__init"
                ;;
            orchestrate,polish)
                cmd="orchestrate__subcmd__polish"
                ;;
            orchestrate,restructure)
                cmd="orchestrate__subcmd__restructure"
                ;;
            orchestrate,resume)
                cmd="orchestrate__subcmd__resume"
                ;;
            orchestrate,run)
                cmd="orchestrate__subcmd__run"
                ;;
            orchestrate,run-plan)
                cmd="orchestrate__subcmd__run__subcmd__plan"
                ;;
            orchestrate,show)
                cmd="orchestrate__subcmd__show"
                ;;
            orchestrate,status)
                cmd="orchestrate__subcmd__status"
                ;;
            orchestrate,stress-plan)
                cmd="orchestrate__subcmd__stress__subcmd__plan"
                ;;
            orchestrate,trust)
                cmd="orchestrate__subcmd__trust"
                ;;
            orchestrate,worktree)
                cmd="orchestrate__subcmd__worktree"
                ;;
            orchestrate__subcmd__github,help)
                cmd="orchestrate__subcmd__github__subcmd__help"
                ;;
            orchestrate__subcmd__github,issue)
                cmd="orchestrate__subcmd__github__subcmd__issue"
                ;;
            orchestrate__subcmd__github,pr)
                cmd="orchestrate__subcmd__github__subcmd__pr"
                ;;
            orchestrate__subcmd__github,status)
                cmd="orchestrate__subcmd__github__subcmd__status"
                ;;
            orchestrate__subcmd__github__subcmd__help,help)
                cmd="orchestrate__subcmd__github__subcmd__help__subcmd__help"
                ;;
            orchestrate__subcmd__github__subcmd__help,issue)
                cmd="orchestrate__subcmd__github__subcmd__help__subcmd__issue"
                ;;
            orchestrate__subcmd__github__subcmd__help,pr)
                cmd="orchestrate__subcmd__github__subcmd__help__subcmd__pr"
                ;;
            orchestrate__subcmd__github__subcmd__help,status)
                cmd="orchestrate__subcmd__github__subcmd__help__subcmd__status"
                ;;
            orchestrate__subcmd__github__subcmd__help__subcmd__issue,create)
                cmd="orchestrate__subcmd__github__subcmd__help__subcmd__issue__subcmd__create"
                ;;
            orchestrate__subcmd__github__subcmd__help__subcmd__issue,list)
                cmd="orchestrate__subcmd__github__subcmd__help__subcmd__issue__subcmd__list"
                ;;
            orchestrate__subcmd__github__subcmd__help__subcmd__issue,view)
                cmd="orchestrate__subcmd__github__subcmd__help__subcmd__issue__subcmd__view"
                ;;
            orchestrate__subcmd__github__subcmd__help__subcmd__pr,create)
                cmd="orchestrate__subcmd__github__subcmd__help__subcmd__pr__subcmd__create"
                ;;
            orchestrate__subcmd__github__subcmd__help__subcmd__pr,list)
                cmd="orchestrate__subcmd__github__subcmd__help__subcmd__pr__subcmd__list"
                ;;
            orchestrate__subcmd__github__subcmd__help__subcmd__pr,view)
                cmd="orchestrate__subcmd__github__subcmd__help__subcmd__pr__subcmd__view"
                ;;
            orchestrate__subcmd__github__subcmd__issue,create)
                cmd="orchestrate__subcmd__github__subcmd__issue__subcmd__create"
                ;;
            orchestrate__subcmd__github__subcmd__issue,help)
                cmd="orchestrate__subcmd__github__subcmd__issue__subcmd__help"
                ;;
            orchestrate__subcmd__github__subcmd__issue,list)
                cmd="orchestrate__subcmd__github__subcmd__issue__subcmd__list"
                ;;
            orchestrate__subcmd__github__subcmd__issue,view)
                cmd="orchestrate__subcmd__github__subcmd__issue__subcmd__view"
                ;;
            orchestrate__subcmd__github__subcmd__issue__subcmd__help,create)
                cmd="orchestrate__subcmd__github__subcmd__issue__subcmd__help__subcmd__create"
                ;;
            orchestrate__subcmd__github__subcmd__issue__subcmd__help,help)
                cmd="orchestrate__subcmd__github__subcmd__issue__subcmd__help__subcmd__help"
                ;;
            orchestrate__subcmd__github__subcmd__issue__subcmd__help,list)
                cmd="orchestrate__subcmd__github__subcmd__issue__subcmd__help__subcmd__list"
                ;;
            orchestrate__subcmd__github__subcmd__issue__subcmd__help,view)
                cmd="orchestrate__subcmd__github__subcmd__issue__subcmd__help__subcmd__view"
                ;;
            orchestrate__subcmd__github__subcmd__pr,create)
                cmd="orchestrate__subcmd__github__subcmd__pr__subcmd__create"
                ;;
            orchestrate__subcmd__github__subcmd__pr,help)
                cmd="orchestrate__subcmd__github__subcmd__pr__subcmd__help"
                ;;
            orchestrate__subcmd__github__subcmd__pr,list)
                cmd="orchestrate__subcmd__github__subcmd__pr__subcmd__list"
                ;;
            orchestrate__subcmd__github__subcmd__pr,view)
                cmd="orchestrate__subcmd__github__subcmd__pr__subcmd__view"
                ;;
            orchestrate__subcmd__github__subcmd__pr__subcmd__help,create)
                cmd="orchestrate__subcmd__github__subcmd__pr__subcmd__help__subcmd__create"
                ;;
            orchestrate__subcmd__github__subcmd__pr__subcmd__help,help)
                cmd="orchestrate__subcmd__github__subcmd__pr__subcmd__help__subcmd__help"
                ;;
            orchestrate__subcmd__github__subcmd__pr__subcmd__help,list)
                cmd="orchestrate__subcmd__github__subcmd__pr__subcmd__help__subcmd__list"
                ;;
            orchestrate__subcmd__github__subcmd__pr__subcmd__help,view)
                cmd="orchestrate__subcmd__github__subcmd__pr__subcmd__help__subcmd__view"
                ;;
            orchestrate__subcmd__goal,clear)
                cmd="orchestrate__subcmd__goal__subcmd__clear"
                ;;
            orchestrate__subcmd__goal,help)
                cmd="orchestrate__subcmd__goal__subcmd__help"
                ;;
            orchestrate__subcmd__goal,pause)
                cmd="orchestrate__subcmd__goal__subcmd__pause"
                ;;
            orchestrate__subcmd__goal,resume)
                cmd="orchestrate__subcmd__goal__subcmd__resume"
                ;;
            orchestrate__subcmd__goal,run)
                cmd="orchestrate__subcmd__goal__subcmd__run"
                ;;
            orchestrate__subcmd__goal__subcmd__help,clear)
                cmd="orchestrate__subcmd__goal__subcmd__help__subcmd__clear"
                ;;
            orchestrate__subcmd__goal__subcmd__help,help)
                cmd="orchestrate__subcmd__goal__subcmd__help__subcmd__help"
                ;;
            orchestrate__subcmd__goal__subcmd__help,pause)
                cmd="orchestrate__subcmd__goal__subcmd__help__subcmd__pause"
                ;;
            orchestrate__subcmd__goal__subcmd__help,resume)
                cmd="orchestrate__subcmd__goal__subcmd__help__subcmd__resume"
                ;;
            orchestrate__subcmd__goal__subcmd__help,run)
                cmd="orchestrate__subcmd__goal__subcmd__help__subcmd__run"
                ;;
            orchestrate__subcmd__help,clean)
                cmd="orchestrate__subcmd__help__subcmd__clean"
                ;;
            orchestrate__subcmd__help,doctor)
                cmd="orchestrate__subcmd__help__subcmd__doctor"
                ;;
            orchestrate__subcmd__help,github)
                cmd="orchestrate__subcmd__help__subcmd__github"
                ;;
            orchestrate__subcmd__help,goal)
                cmd="orchestrate__subcmd__help__subcmd__goal"
                ;;
            orchestrate__subcmd__help,halt)
                cmd="orchestrate__subcmd__help__subcmd__halt"
                ;;
            orchestrate__subcmd__help,handover)
                cmd="orchestrate__subcmd__help__subcmd__handover"
                ;;
            orchestrate__subcmd__help,help)
                cmd="orchestrate__subcmd__help__subcmd__help"
                ;;
            orchestrate__subcmd__help,init)
                cmd="orchestrate__subcmd__help__subcmd__init"
                ;;
            orchestrate__subcmd__help,polish)
                cmd="orchestrate__subcmd__help__subcmd__polish"
                ;;
            orchestrate__subcmd__help,restructure)
                cmd="orchestrate__subcmd__help__subcmd__restructure"
                ;;
            orchestrate__subcmd__help,resume)
                cmd="orchestrate__subcmd__help__subcmd__resume"
                ;;
            orchestrate__subcmd__help,run)
                cmd="orchestrate__subcmd__help__subcmd__run"
                ;;
            orchestrate__subcmd__help,run-plan)
                cmd="orchestrate__subcmd__help__subcmd__run__subcmd__plan"
                ;;
            orchestrate__subcmd__help,show)
                cmd="orchestrate__subcmd__help__subcmd__show"
                ;;
            orchestrate__subcmd__help,status)
                cmd="orchestrate__subcmd__help__subcmd__status"
                ;;
            orchestrate__subcmd__help,stress-plan)
                cmd="orchestrate__subcmd__help__subcmd__stress__subcmd__plan"
                ;;
            orchestrate__subcmd__help,trust)
                cmd="orchestrate__subcmd__help__subcmd__trust"
                ;;
            orchestrate__subcmd__help,worktree)
                cmd="orchestrate__subcmd__help__subcmd__worktree"
                ;;
            orchestrate__subcmd__help__subcmd__github,issue)
                cmd="orchestrate__subcmd__help__subcmd__github__subcmd__issue"
                ;;
            orchestrate__subcmd__help__subcmd__github,pr)
                cmd="orchestrate__subcmd__help__subcmd__github__subcmd__pr"
                ;;
            orchestrate__subcmd__help__subcmd__github,status)
                cmd="orchestrate__subcmd__help__subcmd__github__subcmd__status"
                ;;
            orchestrate__subcmd__help__subcmd__github__subcmd__issue,create)
                cmd="orchestrate__subcmd__help__subcmd__github__subcmd__issue__subcmd__create"
                ;;
            orchestrate__subcmd__help__subcmd__github__subcmd__issue,list)
                cmd="orchestrate__subcmd__help__subcmd__github__subcmd__issue__subcmd__list"
                ;;
            orchestrate__subcmd__help__subcmd__github__subcmd__issue,view)
                cmd="orchestrate__subcmd__help__subcmd__github__subcmd__issue__subcmd__view"
                ;;
            orchestrate__subcmd__help__subcmd__github__subcmd__pr,create)
                cmd="orchestrate__subcmd__help__subcmd__github__subcmd__pr__subcmd__create"
                ;;
            orchestrate__subcmd__help__subcmd__github__subcmd__pr,list)
                cmd="orchestrate__subcmd__help__subcmd__github__subcmd__pr__subcmd__list"
                ;;
            orchestrate__subcmd__help__subcmd__github__subcmd__pr,view)
                cmd="orchestrate__subcmd__help__subcmd__github__subcmd__pr__subcmd__view"
                ;;
            orchestrate__subcmd__help__subcmd__goal,clear)
                cmd="orchestrate__subcmd__help__subcmd__goal__subcmd__clear"
                ;;
            orchestrate__subcmd__help__subcmd__goal,pause)
                cmd="orchestrate__subcmd__help__subcmd__goal__subcmd__pause"
                ;;
            orchestrate__subcmd__help__subcmd__goal,resume)
                cmd="orchestrate__subcmd__help__subcmd__goal__subcmd__resume"
                ;;
            orchestrate__subcmd__help__subcmd__goal,run)
                cmd="orchestrate__subcmd__help__subcmd__goal__subcmd__run"
                ;;
            orchestrate__subcmd__help__subcmd__worktree,cleanup)
                cmd="orchestrate__subcmd__help__subcmd__worktree__subcmd__cleanup"
                ;;
            orchestrate__subcmd__help__subcmd__worktree,create)
                cmd="orchestrate__subcmd__help__subcmd__worktree__subcmd__create"
                ;;
            orchestrate__subcmd__help__subcmd__worktree,list)
                cmd="orchestrate__subcmd__help__subcmd__worktree__subcmd__list"
                ;;
            orchestrate__subcmd__help__subcmd__worktree,push)
                cmd="orchestrate__subcmd__help__subcmd__worktree__subcmd__push"
                ;;
            orchestrate__subcmd__help__subcmd__worktree,status)
                cmd="orchestrate__subcmd__help__subcmd__worktree__subcmd__status"
                ;;
            orchestrate__subcmd__worktree,cleanup)
                cmd="orchestrate__subcmd__worktree__subcmd__cleanup"
                ;;
            orchestrate__subcmd__worktree,create)
                cmd="orchestrate__subcmd__worktree__subcmd__create"
                ;;
            orchestrate__subcmd__worktree,help)
                cmd="orchestrate__subcmd__worktree__subcmd__help"
                ;;
            orchestrate__subcmd__worktree,list)
                cmd="orchestrate__subcmd__worktree__subcmd__list"
                ;;
            orchestrate__subcmd__worktree,push)
                cmd="orchestrate__subcmd__worktree__subcmd__push"
                ;;
            orchestrate__subcmd__worktree,status)
                cmd="orchestrate__subcmd__worktree__subcmd__status"
                ;;
            orchestrate__subcmd__worktree__subcmd__help,cleanup)
                cmd="orchestrate__subcmd__worktree__subcmd__help__subcmd__cleanup"
                ;;
            orchestrate__subcmd__worktree__subcmd__help,create)
                cmd="orchestrate__subcmd__worktree__subcmd__help__subcmd__create"
                ;;
            orchestrate__subcmd__worktree__subcmd__help,help)
                cmd="orchestrate__subcmd__worktree__subcmd__help__subcmd__help"
                ;;
            orchestrate__subcmd__worktree__subcmd__help,list)
                cmd="orchestrate__subcmd__worktree__subcmd__help__subcmd__list"
                ;;
            orchestrate__subcmd__worktree__subcmd__help,push)
                cmd="orchestrate__subcmd__worktree__subcmd__help__subcmd__push"
                ;;
            orchestrate__subcmd__worktree__subcmd__help,status)
                cmd="orchestrate__subcmd__worktree__subcmd__help__subcmd__status"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        orchestrate)
            opts="-v -q -h -V --json --text --verbose --quiet --schema --help --version run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__clean)
            opts="-h -v -q --yes --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__doctor)
            opts="-h -v -q --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github)
            opts="-h -v -q --repo --help --json --text --verbose --quiet status issue pr help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --repo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help)
            opts="status issue pr help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help__subcmd__issue)
            opts="list view create"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help__subcmd__issue__subcmd__create)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help__subcmd__issue__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help__subcmd__issue__subcmd__view)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help__subcmd__pr)
            opts="list view create"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help__subcmd__pr__subcmd__create)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help__subcmd__pr__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help__subcmd__pr__subcmd__view)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__help__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__issue)
            opts="-h -v -q --help --repo --json --text --verbose --quiet list view create help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --repo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__issue__subcmd__create)
            opts="-h -v -q --title --body --body-file --label --confirm --help --repo --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --title)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --body)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --body-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__issue__subcmd__help)
            opts="list view create help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__issue__subcmd__help__subcmd__create)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__issue__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__issue__subcmd__help__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__issue__subcmd__help__subcmd__view)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__issue__subcmd__list)
            opts="-h -v -q --state --label --search --limit --help --repo --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --state)
                    COMPREPLY=($(compgen -W "open closed merged all" -- "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --search)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__issue__subcmd__view)
            opts="-h -v -q --help --repo --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --repo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__pr)
            opts="-h -v -q --help --repo --json --text --verbose --quiet list view create help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --repo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__pr__subcmd__create)
            opts="-h -v -q --title --body --body-file --base --head --remote --draft --confirm --help --repo --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --title)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --body)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --body-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --base)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --head)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --remote)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__pr__subcmd__help)
            opts="list view create help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__pr__subcmd__help__subcmd__create)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__pr__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__pr__subcmd__help__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__pr__subcmd__help__subcmd__view)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__pr__subcmd__list)
            opts="-h -v -q --state --label --search --limit --help --repo --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --state)
                    COMPREPLY=($(compgen -W "open closed merged all" -- "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --search)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__pr__subcmd__view)
            opts="-h -v -q --help --repo --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --repo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__github__subcmd__status)
            opts="-h -v -q --help --repo --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --repo)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal)
            opts="-h -v -q --detach --launcher --launcher-io --help --json --text --verbose --quiet pause resume clear run help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --launcher)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher-io)
                    COMPREPLY=($(compgen -W "shared stream" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal__subcmd__clear)
            opts="-h -v -q --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal__subcmd__help)
            opts="pause resume clear run help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal__subcmd__help__subcmd__clear)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal__subcmd__help__subcmd__pause)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal__subcmd__help__subcmd__resume)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal__subcmd__help__subcmd__run)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal__subcmd__pause)
            opts="-h -v -q --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal__subcmd__resume)
            opts="-h -v -q --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__goal__subcmd__run)
            opts="-h -v -q --detach --detached --launcher --launcher-io --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --launcher)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher-io)
                    COMPREPLY=($(compgen -W "shared stream" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__halt)
            opts="-h -v -q --now --help --json --text --verbose --quiet goal run all"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__handover)
            opts="-h -v -q --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help)
            opts="run goal run-plan stress-plan restructure polish handover resume status show halt clean worktree github trust doctor init help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__clean)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__doctor)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__github)
            opts="status issue pr"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__github__subcmd__issue)
            opts="list view create"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__github__subcmd__issue__subcmd__create)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__github__subcmd__issue__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__github__subcmd__issue__subcmd__view)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__github__subcmd__pr)
            opts="list view create"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__github__subcmd__pr__subcmd__create)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__github__subcmd__pr__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__github__subcmd__pr__subcmd__view)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 5 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__github__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__goal)
            opts="pause resume clear run"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__goal__subcmd__clear)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__goal__subcmd__pause)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__goal__subcmd__resume)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__goal__subcmd__run)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__halt)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__handover)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__init)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__polish)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__restructure)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__resume)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__run)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__run__subcmd__plan)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__stress__subcmd__plan)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__trust)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__worktree)
            opts="list create status push cleanup"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__worktree__subcmd__cleanup)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__worktree__subcmd__create)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__worktree__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__worktree__subcmd__push)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__help__subcmd__worktree__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__init)
            opts="-h -v -q --model --opencode --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --model)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__polish)
            opts="-h -v -q --since --verify --launcher --launcher-io --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher-io)
                    COMPREPLY=($(compgen -W "shared stream" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__restructure)
            opts="-h -v -q --scope --risk --verify --aim --launcher --launcher-io --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -W "file module project" -- "${cur}"))
                    return 0
                    ;;
                --risk)
                    COMPREPLY=($(compgen -W "conservative broad" -- "${cur}"))
                    return 0
                    ;;
                --verify)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --aim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher-io)
                    COMPREPLY=($(compgen -W "shared stream" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__resume)
            opts="-h -v -q --wait --events --launcher --launcher-io --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --events)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher-io)
                    COMPREPLY=($(compgen -W "shared stream" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__run)
            opts="-h -v -q --from --issue --pr --confirm --one --plan-only --dry-run --max-parallel --rounds --queue --wait --class --max-requests --max-tokens --max-wall --max-cost-usd --launcher --launcher-io --review --summary --merge-partial --allow-dirty --events --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --issue)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-parallel)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rounds)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --queue)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-requests)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-tokens)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-wall)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-cost-usd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher-io)
                    COMPREPLY=($(compgen -W "shared stream" -- "${cur}"))
                    return 0
                    ;;
                --review)
                    COMPREPLY=($(compgen -W "off bounded" -- "${cur}"))
                    return 0
                    ;;
                --events)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__run__subcmd__plan)
            opts="-h -v -q --dry-run --max-parallel --wait --allow-dirty --launcher --launcher-io --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --max-parallel)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher-io)
                    COMPREPLY=($(compgen -W "shared stream" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__show)
            opts="-h -v -q --html --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__status)
            opts="-h -v -q --watch --all --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__stress__subcmd__plan)
            opts="-h -v -q --launcher --launcher-io --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --launcher)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher-io)
                    COMPREPLY=($(compgen -W "shared stream" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__trust)
            opts="-h -v -q --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree)
            opts="-h -v -q --help --json --text --verbose --quiet list create status push cleanup help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__cleanup)
            opts="-h -v -q --confirm --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__create)
            opts="-h -v -q --branch --from --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --branch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__help)
            opts="list create status push cleanup help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__help__subcmd__cleanup)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__help__subcmd__create)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__help__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__help__subcmd__push)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__help__subcmd__status)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__list)
            opts="-h -v -q --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__push)
            opts="-h -v -q --remote --confirm --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --remote)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        orchestrate__subcmd__worktree__subcmd__status)
            opts="-h -v -q --help --json --text --verbose --quiet"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _orchestrate -o nosort -o bashdefault -o default orchestrate
else
    complete -F _orchestrate -o bashdefault -o default orchestrate
fi
