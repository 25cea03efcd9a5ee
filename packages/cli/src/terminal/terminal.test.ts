import { expect, it } from 'vitest'
import { fittedHelp } from './terminal.ts'

it('fittedHelp() keeps texts in their column on a narrow terminal, and changes nothing elsewhere', () => {
  const help = 'Usage: x\n\n  --port N  Port to listen on\n            (default 1)\n\nTells what is and what is not.'
  expect(fittedHelp(help)).toBe(help)
  expect(fittedHelp(help, { columns: 80 })).toBe(help)
  expect(fittedHelp(help, { columns: 24 })).toBe(
    'Usage: x\n\n  --port N  Port to\n            listen on\n            (default 1)\n\nTells what is and what\n  is not.',
  )
})
