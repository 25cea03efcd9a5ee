import { expect, test } from 'vitest'
import type { Volume } from '../pod-types.ts'
import { maxPodWarnings } from './max-pod-warnings.ts'
import { volumePathWarnings } from './volume-path-warnings.ts'

test.each<[Volume, string[]]>([
  [{ name: 'v', configMap: { name: 'm', items: [{ path: 'a' }, { path: 'b' }] } }, []],
  [
    { name: 'v', configMap: { name: 'm', items: [{ path: 'a' }, { path: 'a/b/' }] } },
    ['volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"'],
  ],
  [
    {
      name: 'v',
      projected: {
        sources: [{ secret: { name: 's', items: [{ path: 'token' }] } }, { serviceAccountToken: { path: 'token' } }],
      },
    },
    ['volume "v" (Projected): overlapping paths: "token" (ServiceAccountToken) with "token" (Secret "s")'],
  ],
  [{ name: 'v', projected: { sources: [{}] } }, ['volume "v" (Projected) has no sources provided']],
])('volumePathWarnings() about %j', (volume, warnings) => {
  expect(volumePathWarnings(volume)).toEqual(warnings)
})

test('volumePathWarnings() lists overlaps in the order of the files', () => {
  const items = ['a/b/c', 'ab', 'a', 'a/b', 'a-b', 'a', ''].map((path) => ({ path }))
  const texts = volumePathWarnings({ name: 'v', configMap: { name: 'm', items } })
  expect(texts.map((text) => text.replace(/.*paths: /, ''))).toEqual([
    '"a" with "a/b/c"',
    '"a/b" with "a/b/c"',
    '"a/b" with "a"',
    '"a" with "a/b/c"',
    '"a" with "a"',
    '"a" with "a/b"',
  ])
})

test('volumePathWarnings() limits the warnings of a volume', () => {
  const items = Array.from({ length: 200 }, () => ({ path: 'a' }))
  expect(volumePathWarnings({ name: 'v', configMap: { name: 'm', items } })).toHaveLength(maxPodWarnings)
})

test('volumePathWarnings() accepts a path with a long run of slashes', () => {
  const items = [{ path: `a${'/'.repeat(1_000_000)}b` }, { path: `c${'/'.repeat(1_000_000)}` }, { path: 'c/d' }]
  expect(volumePathWarnings({ name: 'v', configMap: { name: 'm', items } })).toEqual([
    'volume "v" (ConfigMap "m"): overlapping paths: "c/d" with "c"',
  ])
})
