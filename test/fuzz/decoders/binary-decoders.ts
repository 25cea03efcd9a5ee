// Decoders of bytes: protobuf, certificates, tokens and the frames of the storage log.

import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApiError, encodeJson } from '@kubewright/api'
import {
  CertificateAuthority,
  checkCertificateRequest,
  fromPem,
  parseCertificateRequest,
  toPem,
} from '@kubewright/base/pki'
import { ProtobufError } from '@kubewright/base/protobuf'
import { ServiceAccountKeys } from '../../../packages/server/src/auth/service-account-keys.ts'
import { decodeObject } from '../../../packages/server/src/codec/protobuf/decode-object.ts'
import { encodeProtobuf } from '../../../packages/server/src/codec/protobuf/envelope.ts'
import { defaultServedRelease } from '../../../packages/server/src/codec/served-release.ts'
import {
  decodeFrames,
  encodeFrame,
  encodeHeader,
  headerSize,
  type WalRecord,
} from '../../../packages/storage/src/durable/wal-format.ts'
import { recordedRequests, sampleObjects } from '../requests/recorded-requests.ts'
import { bytesFrom, type DecoderTarget, decoded, must, textsFrom } from './decoder-target.ts'

const samples = [...sampleObjects(recordedRequests('low')).values()].flat()

/** Recorded objects that have a protobuf form. */
const messages: readonly Buffer[] = samples.flatMap((object) => {
  try {
    return [encodeProtobuf(defaultServedRelease, object)]
  } catch {
    return []
  }
})

const request = readFileSync(join(import.meta.dirname, '../../controllers/testdata/user.csr'), 'utf8')
const now = 1_700_000_000_000
const certificate = CertificateAuthority.create({ commonName: 'fuzz', now }).cert
const keys = new ServiceAccountKeys([
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
])
const tokens = ['a', 'b'].map((sub) => keys.sign({ sub, iss: 'fuzz', aud: ['x'], exp: 2_000_000_000 }))

const records: readonly WalRecord[] = Array.from({ length: 12 }, (_, i) => ({
  type: i % 4 === 3 ? 'delete' : 'put',
  key: `/registry/things/${i % 5}`,
  value: i % 4 === 3 ? new Uint8Array(0) : Buffer.from(`value ${i} `.repeat(1 + i * 7)),
  revision: i + 1,
  createRevision: 1 + (i % 5),
}))
const log = Buffer.concat([
  encodeHeader('log', 1),
  ...[0, 3, 4, 9].map((start, i, all) => encodeFrame(records.slice(start, all[i + 1]))),
])

/** Decoders whose input is bytes, or text that encodes bytes. */
export const binaryDecoders: readonly DecoderTarget[] = [
  {
    name: 'protobuf',
    generate: bytesFrom(messages),
    check(input) {
      const expected = { apiVersion: 'v1', kind: 'Pod' }
      const parsed = decoded(
        () => decodeObject(defaultServedRelease, Buffer.from(input), expected),
        ProtobufError,
        ApiError,
      )
      if (!parsed) return
      // Unknown kinds and versions decode to their type only.
      const encoded = decoded(() => encodeProtobuf(defaultServedRelease, parsed.value), Error)
      if (!encoded) return
      const again = decodeObject(defaultServedRelease, encoded.value, expected)
      must(
        encodeJson(decodeObject(defaultServedRelease, encodeProtobuf(defaultServedRelease, again), expected)) ===
          encodeJson(again),
        'an encoded object has the same value',
        again,
      )
    },
  },
  {
    name: 'certificate-requests',
    generate(random, maxSize) {
      if (random.next() < 0.4) return textsFrom([request, certificate])(random, maxSize)
      return toPem('CERTIFICATE REQUEST', bytesFrom([fromPem(request)!.bytes])(random, maxSize))
    },
    check(input) {
      const parsed = decoded(() => parseCertificateRequest(String(input)), Error)
      if (!parsed) return
      const isSigned = decoded(() => checkCertificateRequest(parsed.value), Error)
      if (isSigned)
        must(fromPem(String(input))!.bytes.includes(parsed.value.signed), 'the signature covers the request')
    },
  },
  {
    name: 'tokens',
    generate: textsFrom(tokens, [
      '.',
      '=',
      '-',
      '_',
      '+',
      '/',
      'e30',
      'eyJhbGciOiJub25lIn0',
      '\n',
      ' ',
      'A',
      '..',
      '\u0000',
    ]),
    check(input) {
      const token = String(input)
      const result = keys.verify(token)
      must(typeof result !== 'object' || tokens.includes(token), 'only tokens that were signed are accepted', token)
    },
  },
  {
    name: 'storage-log',
    generate: bytesFrom([log]),
    check(input) {
      const file = Buffer.from(input)
      const found: WalRecord[] = []
      const data = file.subarray(headerSize)
      const end = decodeFrames({ data, position: headerSize, size: file.length }, (all) => found.push(...all))
      if (end.kind !== 'corrupt')
        must(end.length <= Math.max(headerSize, file.length), 'the complete part lies within the file', end)
      // Checksums protect the records: whatever is read was written, in this order. Repeated frames may be read again.
      for (const record of found)
        must(
          records.some((written) => sameRecord(written, record)),
          'every record was written',
          record,
        )
      if (end.kind === 'torn') must(!file.subarray(0, log.length).equals(log), 'the complete log is not torn')
    },
  },
]

function sameRecord(a: WalRecord, b: WalRecord): boolean {
  const sameValue = a.type === b.type && Buffer.from(a.value).equals(b.value)
  return a.key === b.key && a.revision === b.revision && a.createRevision === b.createRevision && sameValue
}
