import { expect, test } from 'vitest'
import type { Volume } from '../pod-types.ts'
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
