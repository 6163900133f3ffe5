
# The names of suites, agents and cases come from the config in this folder.
_goldgate_with_names() {
    local kind="" name
    local current="${COMP_WORDS[COMP_CWORD]}"
    case "${COMP_WORDS[COMP_CWORD-1]}" in
        --suite) kind=suites ;;
        --agent) kind=agents ;;
        --case | explain) kind=cases ;;
    esac
    if [[ -n "$kind" && "$current" != -* ]]; then
        COMPREPLY=()
        while IFS= read -r name; do
            [[ "$name" == "$current"* ]] && COMPREPLY+=("$name")
        done < <(goldgate names "$kind" 2>/dev/null)
    else
        _goldgate "$@"
    fi
}
complete -F _goldgate_with_names -o bashdefault -o default goldgate
