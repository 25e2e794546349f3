# zsh -f complete.zsh SCRIPT LINE: prints what a zsh on its own terminal offers for Tab after the line, one a line. A
# SCRIPT whose name begins with _ is not sourced: zsh finds it in its folder.
zmodload zsh/zpty || exit 1
offered=$PWD/offered.txt
setup=$PWD/setup.zsh
cat > $setup <<'EOF'
PROMPT=
autoload -U compinit
fpath=($SCRIPT:h $fpath)
# The first of several calls in a folder notes there what zsh itself completes; reading all of that takes a third of a second.
compinit -u -d $DUMP
[[ $SCRIPT:t == _* ]] || source $SCRIPT
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false
comppostfuncs=(finish)
finish() { mv $OFFERED.part $OFFERED; exit }
compadd() {
  local -a hits
  if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
    builtin compadd -A hits "$@"
    print -rl -- $hits >> $OFFERED.part
  fi
  builtin compadd "$@"
}
: > $OFFERED.part
print ready
EOF
export SCRIPT=$1 OFFERED=$offered DUMP=$PWD/zcompdump
zpty shell zsh -f -i
zpty -w shell "source ${(q)setup}"
zpty -r -m shell line $'*\nready*'
zpty -w -n shell "$2"$'\t'
while zpty -r shell line 2>/dev/null; do :; done
grep . $offered
