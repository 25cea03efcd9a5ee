import { guessPlural } from '@kubewright/api'
import { loadKubeconfig, systemConfigHost } from '@kubewright/client'
import { builtinKinds } from '../scaffold/builtin-kinds.ts'
import { readProject } from '../scaffold/read-project.ts'
import type { ListName } from './completion-words.ts'

/** The values of a list in a folder and its environment, sorted, for shells to offer. */
export async function completionValues(
  name: ListName,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const list = new Set(await valuesOf(name, folder, env))
  return [...list].filter((value) => value !== '').sort()
}

async function valuesOf(
  name: ListName,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  if (name === 'contexts') {
    const kubeconfig = await loadKubeconfig(undefined, { ...systemConfigHost, env })
    return [...(kubeconfig?.contexts.keys() ?? [])]
  }
  const resources = readProject(folder)?.resources ?? []
  switch (name) {
    case 'groups':
      return resources.map(({ group }) => group ?? '')
    case 'versions':
      return resources.map(({ version }) => version)
    case 'kinds':
      return resources.map(({ kind }) => kind)
    case 'resources': {
      const own = resources.map(({ kind, plural }) => plural ?? guessPlural(kind))
      return [...own, ...(await builtinKinds()).map(({ plural }) => plural)]
    }
  }
}
