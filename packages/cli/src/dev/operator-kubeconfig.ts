import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { encodeYaml, parseYaml } from '@kubewright/api'
import { isJsonObject, KubewrightError } from '@kubewright/base'
import type { OperatorIdentity } from './grant-roles.ts'

const fileFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']

/**
 * The text of a kubeconfig with the same contexts as a file, for use in another folder: names of files are absolute. With an identity, every
 * user impersonates it.
 */
export async function operatorKubeconfig(file: string, identity?: OperatorIdentity): Promise<string> {
  const config = parseYaml(await readFile(file, 'utf8'))
  if (!isJsonObject(config)) throw new KubewrightError('KW_COMMAND', `${file} is not a kubeconfig`)
  const change = (list: unknown, key: string, more: object = {}): unknown[] =>
    (Array.isArray(list) ? list : []).map((entry: unknown) => {
      const inner = isJsonObject(entry) && isJsonObject(entry[key]) ? entry[key] : {}
      const files = fileFields.flatMap((field) => {
        const path = inner[field]
        return typeof path === 'string' && path !== '' ? [[field, resolve(dirname(file), path)] as const] : []
      })
      return { ...(isJsonObject(entry) ? entry : {}), [key]: { ...inner, ...Object.fromEntries(files), ...more } }
    })
  const impersonation = identity === undefined ? {} : { as: identity.user, 'as-groups': [...identity.groups] }
  return encodeYaml({
    ...config,
    clusters: change(config['clusters'], 'cluster'),
    users: change(config['users'], 'user', impersonation),
  })
}
