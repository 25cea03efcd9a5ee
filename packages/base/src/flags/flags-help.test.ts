import { expect, test } from 'vitest'
import { defineFlags } from './flag.ts'
import { flagsHelp, wrapText } from './flags-help.ts'

const table = defineFlags({
  port: { value: 'N', help: 'Port to listen on; 0 picks a free one', default: '6443' },
  context: { value: 'NAME', help: 'Context to use', defaultText: 'the current one' },
  'enable-admission-plugins': { value: 'NAMES', help: 'Also run these admission plugins' },
  namespaced: { help: 'Keep objects in namespaces', default: true },
  wait: { help: 'Do not wait', default: true, negated: true },
  verbose: { help: 'Log every request, and each step of the controllers while they work', short: 'v' },
  make: { help: 'Ignored', hidden: true },
  image: { value: 'IMAGE', help: 'Image to run', section: 'An operator that runs an image' },
})

test('flagsHelp() lists flags with their defaults, in sections and two columns', () => {
  expect(flagsHelp(table, { columns: 60 })).toBe(`Options
  --port N              Port to listen on; 0 picks a free
                        one (default 6443)
  --context NAME        Context to use (default: the current
                        one)
  --enable-admission-plugins NAMES
                        Also run these admission plugins
                        (default none)
  --namespaced[=false]  Keep objects in namespaces (default
                        true)
  --no-wait             Do not wait
  -v, --verbose         Log every request, and each step of
                        the controllers while they work

An operator that runs an image
  --image IMAGE         Image to run (default none)`)
})

test('wrapText() leaves words whole', () => {
  expect(wrapText('one two-three-four five', 8)).toBe('one\ntwo-three-four\nfive')
})
