
# The names of suites, agents and cases come from the config in this folder.
complete -c goldgate -l suite -x -a "(goldgate names suites 2>/dev/null)"
complete -c goldgate -l agent -x -a "(goldgate names agents 2>/dev/null)"
complete -c goldgate -l case -x -a "(goldgate names cases 2>/dev/null)"
complete -c goldgate -n "__fish_seen_subcommand_from explain" -f -a "(goldgate names cases 2>/dev/null)"
