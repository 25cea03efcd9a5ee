import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createServerIdentity, type KeptIdentity, renewServerIdentity, type ServerIdentity } from '@kubewright/server'
import { makeFolder, writePrivateFile } from '@kubewright/storage'

const names = {
  caCert: 'ca.crt',
  caKey: 'ca.key',
  servingCert: 'apiserver.crt',
  servingKey: 'apiserver.key',
  adminCert: 'admin.crt',
  adminKey: 'admin.key',
  serviceAccountKey: 'sa.key',
} as const
const frontProxyNames = { cert: 'front-proxy-ca.crt', key: 'front-proxy-ca.key' } as const

/**
 * The identity of a server, kept in a folder. It is generated on first use, and its certificates are renewed before they expire or when
 * they lack one of the hosts.
 */
export async function identityIn(folder: string, now: number, hosts: readonly string[] = []): Promise<ServerIdentity> {
  const kept = await load(folder)
  if (kept) {
    const identity = renewServerIdentity(kept, now, hosts)
    if (identity !== kept) await save(folder, identity)
    return identity
  }
  const identity = createServerIdentity(now, hosts)
  if (await saveFirst(folder, identity)) return identity
  // Another server saved its identity in the meantime, which counts for all. Without one, an earlier start was interrupted.
  if (await load(folder)) return identityIn(folder, now, hosts)
  await save(folder, identity)
  return identity
}

/** Saves the first identity of a folder, all files at once. Resolves to false if the folder has files already. */
async function saveFirst(folder: string, identity: ServerIdentity): Promise<boolean> {
  await makeFolder(dirname(folder))
  const draft = await mkdtemp(`${folder}.`)
  try {
    await save(draft, identity)
    // Fails if the folder exists and is not empty.
    await rename(draft, folder)
    return true
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    throw error
  }
}

async function load(folder: string): Promise<KeptIdentity | undefined> {
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')
  const find = (name: string): Promise<string | undefined> =>
    read(name).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
  // Written last: if it exists, all other files do.
  if ((await find(names.caCert)) === undefined) return undefined
  const [caCert, caKey, servingCert, servingKey, adminCert, adminKey, serviceAccountKey] = await Promise.all(
    Object.values(names).map(read),
  )
  // Folders of earlier versions do not have it.
  const [frontCert, frontKey] = await Promise.all(Object.values(frontProxyNames).map(find))
  return {
    ...(frontCert && frontKey ? { frontProxyCa: { cert: frontCert, key: frontKey } } : {}),
    ca: { cert: caCert!, key: caKey! },
    serving: { cert: servingCert!, key: servingKey! },
    admin: { cert: adminCert!, key: adminKey! },
    serviceAccountKey: serviceAccountKey!,
  }
}

async function save(folder: string, identity: ServerIdentity): Promise<void> {
  const write = (name: string, text: string): Promise<void> => writePrivateFile(join(folder, name), text)
  await Promise.all([
    write(names.caKey, identity.ca.key),
    write(names.servingCert, identity.serving.cert),
    write(names.servingKey, identity.serving.key),
    write(names.adminCert, identity.admin.cert),
    write(names.adminKey, identity.admin.key),
    write(names.serviceAccountKey, identity.serviceAccountKey),
    write(frontProxyNames.cert, identity.frontProxyCa.cert),
    write(frontProxyNames.key, identity.frontProxyCa.key),
  ])
  // Last: after an interrupted start there is no CA, and the next start generates a new identity.
  await write(names.caCert, identity.ca.cert)
}
