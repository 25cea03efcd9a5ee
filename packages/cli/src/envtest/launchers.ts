import { etcdFlagNames } from './run-etcd.ts'

/** Every launcher that this program has written has this line, so that programs of others are never replaced. */
export const launcherMark = '# Written by kubewright envtest use'

/**
 * The shell programs of a folder for envtest, by name. `program` is the command line of `envtest-main`. They answer `--help` by themselves,
 * because starters look for flags in it before each start.
 */
export function launchers(
  program: readonly string[],
  version: string,
  apiServerFlags: readonly string[],
): ReadonlyMap<string, string> {
  const command = (...args: readonly string[]): string => [...program, ...args].map(quoted).join(' ')
  return new Map([
    ['etcd', launcher('etcd', etcdFlagNames, command('etcd'))],
    ['kube-apiserver', launcher('kube-apiserver', apiServerFlags, command('kube-apiserver', version))],
    ['kubectl', kubectl],
  ])
}

/** A text as a word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`
}

function launcher(name: string, flags: readonly string[], command: string): string {
  const help = [`${name} of kubewright. Flags that have an effect:`, ...flags.map((flag) => `  --${flag}`)]
  return `#!/bin/sh
${launcherMark}
if [ "$1" = --help ]; then
  cat <<'HELP'
${help.join('\n')}
HELP
  exit
fi
exec ${command} "$@"
`
}

// Folders of this command may be on the PATH.
const kubectl = `#!/bin/sh
${launcherMark}
set -f
IFS=:
for folder in $PATH; do
  kubectl="$folder/kubectl"
  if [ -x "$kubectl" ] && ! head -c 100 "$kubectl" | grep -q '^${launcherMark}$'; then
    exec "$kubectl" "$@"
  fi
done
echo 'kubewright envtest: no kubectl is installed: install it, or add it to PATH' >&2
exit 127
`
