import { readFile } from 'node:fs/promises'
import { errorText, type FlagValues, UsageError } from '@kubewright/base'
import { type KubeletOptions, type NodeAddressType, nodeAddressTypes } from '@kubewright/server'
import type { kubeletFlags } from './kubelet-flags.ts'

/** Derives the connections to kubelets from flags; undefined when all have their defaults. */
export async function kubeletConfig(values: FlagValues<typeof kubeletFlags>): Promise<KubeletOptions | undefined> {
  const { 'kubelet-client-certificate': certFile, 'kubelet-client-key': keyFile } = values
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--kubelet-client-certificate and --kubelet-client-key need each other: give both or none')
  }
  const types = addressTypesOf(values['kubelet-preferred-address-types'])
  const caFile = values['kubelet-certificate-authority']
  const ca = caFile === undefined ? undefined : await pemIn('--kubelet-certificate-authority', caFile)
  const client =
    certFile === undefined || keyFile === undefined
      ? undefined
      : {
          cert: await pemIn('--kubelet-client-certificate', certFile),
          key: await pemIn('--kubelet-client-key', keyFile),
        }
  if (ca === undefined && client === undefined && types.join() === nodeAddressTypes.join()) return undefined
  return { ca, preferredAddressTypes: types, ...(client ? { client: () => client } : {}) }
}

function addressTypesOf(text: string): NodeAddressType[] {
  return text.split(',').map((name) => {
    const type = nodeAddressTypes.find((known) => known === name.trim())
    if (type) return type
    throw new UsageError(
      `--kubelet-preferred-address-types must be a list of ${nodeAddressTypes.join(', ')}, not "${text}"`,
    )
  })
}

async function pemIn(flag: string, file: string): Promise<string> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${file}: ${errorText(error)}`)
  }
  if (!text.includes('-----BEGIN ')) throw new UsageError(`${flag} must be a PEM file: ${file} contains no PEM block`)
  return text
}
