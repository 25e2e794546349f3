# bash complete.bash SCRIPT LINE: prints what bash offers for Tab after the line, one a line.
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
# Splits the line into words as readline does: = is a word of its own.
read -ra COMP_WORDS <<< "${2//=/ = }"
[[ $2 == *' ' || $2 == *= ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
function=$(complete -p workspace-gateway)
function=${function#*-F }
"${function%% *}" workspace-gateway "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
