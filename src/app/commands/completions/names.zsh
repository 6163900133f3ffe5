
# The names of suites, agents and cases come from the config in this folder.
_goldgate_with_names() {
    local kind=""
    case "${words[CURRENT-1]}" in
        --suite) kind=suites ;;
        --agent) kind=agents ;;
        --case | explain) kind=cases ;;
    esac
    if [[ -n "$kind" && "${words[CURRENT]}" != -* ]]; then
        compadd -- ${(f)"$(goldgate names $kind 2>/dev/null)"}
    else
        _goldgate "$@"
    fi
}
compdef _goldgate_with_names goldgate
