import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createServerIdentity, renewServerIdentity, type ServerIdentity } from '@kubewright/server'
import { writePrivateFile } from './private-file.ts'

const names = {
  caCert: 'ca.crt',
  caKey: 'ca.key',
  servingCert: 'apiserver.crt',
  servingKey: 'apiserver.key',
  adminCert: 'admin.crt',
  adminKey: 'admin.key',
  serviceAccountKey: 'sa.key',
} as const

/** The identity that is kept in a folder: made on first use, with certificates renewed before they expire. */
export async function identityIn(folder: string, now: number): Promise<ServerIdentity> {
  const kept = await load(folder)
  const identity = kept ? renewServerIdentity(kept, now) : createServerIdentity(now)
  if (identity !== kept) await save(folder, identity)
  return identity
}

async function load(folder: string): Promise<ServerIdentity | undefined> {
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')
  try {
    // Written last, so that it is there only when all the others are.
    await read(names.caCert)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const [caCert, caKey, servingCert, servingKey, adminCert, adminKey, serviceAccountKey] = await Promise.all(
    Object.values(names).map(read),
  )
  return {
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
  ])
  // Last: a start that was cut short leaves no CA, and the next one begins anew.
  await write(names.caCert, identity.ca.cert)
}
