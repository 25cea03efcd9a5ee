// Reads the board of file descriptor 4 until a message arrives, and sends what it has seen.
import { RevisionBoard } from '../revision-board.ts'

const board = new RevisionBoard(4)
let last = 0
let reads = 0
let decreases = 0
const read = (): void => {
  const revision = board.read()
  if (revision < last) decreases++
  last = revision
  reads++
}
const turn = (): void => {
  for (let i = 0; i < 1000; i++) read()
  timer = setImmediate(turn)
}
let timer = setImmediate(turn)
process.once('message', () => {
  clearImmediate(timer)
  read()
  process.send!({ reads, decreases, last }, () => process.disconnect())
})
process.send!('ready')
