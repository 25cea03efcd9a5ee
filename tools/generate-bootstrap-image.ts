// Writes packages/server/src/bootstrap/generated/bootstrap-image.ts: the stored form of the objects of every cluster.
//   node --conditions=kubewright-source --import tsx tools/generate-bootstrap-image.ts
import { writeFileSync } from 'node:fs'
import { bootstrapImageText } from '../packages/server/src/testdata/bootstrap-image-text.ts'

const file = 'packages/server/src/bootstrap/generated/bootstrap-image.ts'
writeFileSync(file, await bootstrapImageText())
console.log(`${file} written`)
