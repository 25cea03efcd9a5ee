import type { JSONSchemaProps } from '@kubewright/schema'
import type { JsonObject } from '../../own-property.ts'
import { objectMetaSchema } from '../object-meta-schema.ts'

// Responses of a kube-apiserver v1.35.8 to requests that were sent in sequence for one object.

interface RecordedStep {
  readonly apply?: JsonObject
  readonly merge?: JsonObject
  readonly manager: string
  readonly force?: boolean
  /** The error message of a failed request. */
  readonly error?: string
  /** The fieldsV1 of the response by operation, manager and version. */
  readonly owners?: Readonly<Record<string, unknown>>
}

/** A sequence of requests with the recorded responses. */
export interface RecordedCase {
  readonly title: string
  readonly versions?: Readonly<Record<string, JSONSchemaProps>>
  readonly steps: readonly RecordedStep[]
}

/** The schema of ConfigMaps, which most cases use. */
export const configMapSchema: JSONSchemaProps = {
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { ...objectMetaSchema, default: {} },
    data: { type: 'object', additionalProperties: { type: 'string' } },
  },
}

const schema1: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        atomicList: { type: 'array', items: { type: 'string' } },
        setList: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        mapList: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, proto: { type: 'string', default: 'TCP' }, v: { type: 'integer' } },
            required: ['name'],
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'proto'],
        },
        gran: { type: 'object', additionalProperties: { type: 'string' } },
        atom: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
        n: { type: 'integer' },
        o: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } },
      },
    },
    status: {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        m: { type: 'integer' },
        conditions: {
          type: 'array',
          items: {
            type: 'object',
            properties: { type: { type: 'string' }, status: { type: 'string' }, reason: { type: 'string' } },
            required: ['type'],
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
        },
      },
    },
  },
}

const schema2: JSONSchemaProps = {
  type: 'object',
  properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
}

const schema3: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        atomicList: { type: 'array', items: { type: 'string' } },
        setList: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        mapList: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, proto: { type: 'string', default: 'TCP' }, v: { type: 'integer' } },
            required: ['name'],
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'proto'],
        },
        gran: { type: 'object', additionalProperties: { type: 'string' } },
        atom: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
        n: { type: 'integer' },
        o: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } },
      },
    },
  },
}

/** The recorded cases. */
export const recordedCases: readonly RecordedCase[] = [
  {
    title: 'conflicts on several fields with several managers',
    steps: [
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v', l: 'w' } },
        manager: 'alice',
        owners: { 'Apply alice v1': { 'f:data': { 'f:k': {}, 'f:l': {} } } },
      },
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { y: '1' } }, data: { m: 'x' } },
        manager: 'carol',
        owners: {
          'Apply alice v1': { 'f:data': { 'f:k': {}, 'f:l': {} } },
          'Apply carol v1': { 'f:data': { 'f:m': {} }, 'f:metadata': { 'f:labels': { 'f:y': {} } } },
        },
      },
      {
        apply: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'a', labels: { y: '2' } },
          data: { k: '1', l: '2', m: '3' },
        },
        manager: 'bob',
        error:
          'Apply failed with 4 conflicts: conflicts with "alice":\n- .data.k\n- .data.l\nconflicts with "carol":\n- .data.m\n- .metadata.labels.y',
      },
    ],
  },
  {
    title: 'force takes the fields over',
    steps: [
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v', l: 'w' } },
        manager: 'alice',
        owners: { 'Apply alice v1': { 'f:data': { 'f:k': {}, 'f:l': {} } } },
      },
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'forced' } },
        manager: 'bob',
        force: true,
        owners: { 'Apply alice v1': { 'f:data': { 'f:l': {} } }, 'Apply bob v1': { 'f:data': { 'f:k': {} } } },
      },
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v', l: 'w' } },
        manager: 'alice',
        error: 'Apply failed with 1 conflict: conflict with "bob": .data.k',
      },
    ],
  },
  {
    title: 'a field omitted in the next apply is removed unless another manager owns it',
    steps: [
      {
        apply: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'a', labels: { x: '1' } },
          data: { k: 'v', l: 'w' },
        },
        manager: 'alice',
        owners: {
          'Apply alice v1': { 'f:data': { 'f:k': {}, 'f:l': {} }, 'f:metadata': { 'f:labels': { 'f:x': {} } } },
        },
      },
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } },
        manager: 'alice',
        owners: { 'Apply alice v1': { 'f:data': { 'f:k': {} } } },
      },
      { apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }, manager: 'alice', owners: {} },
    ],
  },
  {
    title: 'the same manager name for apply and update gives two entries',
    steps: [
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } },
        manager: 'alice',
        owners: { 'Apply alice v1': { 'f:data': { 'f:k': {} } } },
      },
      { merge: { data: { k: 'w' } }, manager: 'alice', owners: { 'Update alice v1': { 'f:data': { 'f:k': {} } } } },
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } },
        manager: 'alice',
        error: 'Apply failed with 1 conflict: conflict with "alice" using v1: .data.k',
      },
    ],
  },
  {
    title: 'finalizers are a set',
    steps: [
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', finalizers: ['example.com/a'] } },
        manager: 'alice',
        owners: { 'Apply alice v1': { 'f:metadata': { 'f:finalizers': { 'v:"example.com/a"': {} } } } },
      },
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', finalizers: ['example.com/b'] } },
        manager: 'bob',
        owners: {
          'Apply alice v1': { 'f:metadata': { 'f:finalizers': { 'v:"example.com/a"': {} } } },
          'Apply bob v1': { 'f:metadata': { 'f:finalizers': { 'v:"example.com/b"': {} } } },
        },
      },
      {
        apply: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
        manager: 'alice',
        owners: { 'Apply bob v1': { 'f:metadata': { 'f:finalizers': { 'v:"example.com/b"': {} } } } },
      },
      {
        apply: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'a', finalizers: ['example.com/b', 'example.com/b'] },
        },
        manager: 'bob',
        error:
          'failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.finalizers: duplicate entries for key [="example.com/b"]',
      },
    ],
  },
  {
    title: 'listType set: items of two managers',
    versions: { 'example.com/v1': schema1 },
    steps: [
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { setList: ['x', 'y'] } },
        manager: 'alice',
        owners: { 'Apply alice example.com/v1': { 'f:spec': { 'f:setList': { 'v:"x"': {}, 'v:"y"': {} } } } },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { setList: ['z', 'y'] } },
        manager: 'bob',
        owners: {
          'Apply alice example.com/v1': { 'f:spec': { 'f:setList': { 'v:"x"': {}, 'v:"y"': {} } } },
          'Apply bob example.com/v1': { 'f:spec': { 'f:setList': { 'v:"y"': {}, 'v:"z"': {} } } },
        },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { setList: ['x'] } },
        manager: 'alice',
        owners: {
          'Apply alice example.com/v1': { 'f:spec': { 'f:setList': { 'v:"x"': {} } } },
          'Apply bob example.com/v1': { 'f:spec': { 'f:setList': { 'v:"y"': {}, 'v:"z"': {} } } },
        },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { setList: ['q', 'q'] } },
        manager: 'bob',
        error:
          'failed to create typed patch object (/a; example.com/v1, Kind=Widget): .spec.setList: duplicate entries for key [="q"]',
      },
    ],
  },
  {
    title: 'listType map with a defaulted key',
    versions: { 'example.com/v1': schema1 },
    steps: [
      {
        apply: {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          metadata: { name: 'a' },
          spec: {
            mapList: [
              { name: 'x', v: 1 },
              { name: 'y', v: 2 },
            ],
          },
        },
        manager: 'alice',
        owners: {
          'Apply alice example.com/v1': {
            'f:spec': {
              'f:mapList': {
                'k:{"name":"x","proto":"TCP"}': { '.': {}, 'f:name': {}, 'f:v': {} },
                'k:{"name":"y","proto":"TCP"}': { '.': {}, 'f:name': {}, 'f:v': {} },
              },
            },
          },
        },
      },
      {
        apply: {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          metadata: { name: 'a' },
          spec: { mapList: [{ name: 'x', proto: 'UDP', v: 9 }] },
        },
        manager: 'bob',
        owners: {
          'Apply alice example.com/v1': {
            'f:spec': {
              'f:mapList': {
                'k:{"name":"x","proto":"TCP"}': { '.': {}, 'f:name': {}, 'f:v': {} },
                'k:{"name":"y","proto":"TCP"}': { '.': {}, 'f:name': {}, 'f:v': {} },
              },
            },
          },
          'Apply bob example.com/v1': {
            'f:spec': {
              'f:mapList': { 'k:{"name":"x","proto":"UDP"}': { '.': {}, 'f:name': {}, 'f:proto': {}, 'f:v': {} } },
            },
          },
        },
      },
      {
        apply: {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          metadata: { name: 'a' },
          spec: { mapList: [{ name: 'x', v: 7 }] },
        },
        manager: 'bob',
        error: 'Apply failed with 1 conflict: conflict with "alice": .spec.mapList[name="x",proto="TCP"].v',
      },
      {
        apply: {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          metadata: { name: 'a' },
          spec: { mapList: [{ name: 'y', v: 2 }] },
        },
        manager: 'alice',
        owners: {
          'Apply alice example.com/v1': {
            'f:spec': { 'f:mapList': { 'k:{"name":"y","proto":"TCP"}': { '.': {}, 'f:name': {}, 'f:v': {} } } },
          },
          'Apply bob example.com/v1': {
            'f:spec': {
              'f:mapList': { 'k:{"name":"x","proto":"UDP"}': { '.': {}, 'f:name': {}, 'f:proto': {}, 'f:v': {} } },
            },
          },
        },
      },
    ],
  },
  {
    title: 'granular and atomic maps',
    versions: { 'example.com/v1': schema1 },
    steps: [
      {
        apply: {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          metadata: { name: 'a' },
          spec: { gran: { x: '1' }, atom: { x: '1' } },
        },
        manager: 'alice',
        owners: { 'Apply alice example.com/v1': { 'f:spec': { 'f:atom': {}, 'f:gran': { 'f:x': {} } } } },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { gran: { y: '2' } } },
        manager: 'bob',
        owners: {
          'Apply alice example.com/v1': { 'f:spec': { 'f:atom': {}, 'f:gran': { 'f:x': {} } } },
          'Apply bob example.com/v1': { 'f:spec': { 'f:gran': { 'f:y': {} } } },
        },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { atom: { y: '2' } } },
        manager: 'bob',
        error: 'Apply failed with 1 conflict: conflict with "alice": .spec.atom',
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { gran: {}, atom: {} } },
        manager: 'alice',
        owners: {
          'Apply alice example.com/v1': { 'f:spec': { 'f:atom': {}, 'f:gran': {} } },
          'Apply bob example.com/v1': { 'f:spec': { 'f:gran': { 'f:y': {} } } },
        },
      },
    ],
  },
  {
    title: 'apply to a schema with x-kubernetes-preserve-unknown-fields',
    versions: { 'example.com/v1': schema2 },
    steps: [
      {
        apply: {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          metadata: { name: 'a' },
          spec: { list: [1, 2], o: { a: 1 }, m: [{ name: 'x' }] },
        },
        manager: 'alice',
        owners: {
          'Apply alice example.com/v1': { 'f:spec': { 'f:list': {}, 'f:m': {}, 'f:o': { '.': {}, 'f:a': {} } } },
        },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { o: { b: 2 } } },
        manager: 'bob',
        owners: {
          'Apply alice example.com/v1': { 'f:spec': { 'f:list': {}, 'f:m': {}, 'f:o': { '.': {}, 'f:a': {} } } },
          'Apply bob example.com/v1': { 'f:spec': { 'f:o': { '.': {}, 'f:b': {} } } },
        },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { list: [3] } },
        manager: 'bob',
        error: 'Apply failed with 1 conflict: conflict with "alice": .spec.list',
      },
    ],
  },
  {
    title: 'unknown fields in the apply of a custom resource',
    versions: { 'example.com/v1': schema1 },
    steps: [
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { n: 1, zz: 2 } },
        manager: 'alice',
        error:
          'failed to create typed patch object (/a; example.com/v1, Kind=Widget): .spec.zz: field not declared in schema',
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { n: 'x' } },
        manager: 'alice',
        error:
          'failed to create typed patch object (/a; example.com/v1, Kind=Widget): .spec.n: expected numeric (int or float), got string',
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { n: 1 }, top: 1 },
        manager: 'alice',
        error:
          'failed to create typed patch object (/a; example.com/v1, Kind=Widget): .top: field not declared in schema',
      },
    ],
  },
  {
    title: 'dropping a struct with fields of another manager keeps the other fields',
    versions: { 'example.com/v1': schema1 },
    steps: [
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { o: { a: 1 } } },
        manager: 'alice',
        owners: { 'Apply alice example.com/v1': { 'f:spec': { 'f:o': { 'f:a': {} } } } },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { o: { b: 2 } } },
        manager: 'bob',
        owners: {
          'Apply alice example.com/v1': { 'f:spec': { 'f:o': { 'f:a': {} } } },
          'Apply bob example.com/v1': { 'f:spec': { 'f:o': { 'f:b': {} } } },
        },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: {} },
        manager: 'alice',
        owners: {
          'Apply alice example.com/v1': { 'f:spec': {} },
          'Apply bob example.com/v1': { 'f:spec': { 'f:o': { 'f:b': {} } } },
        },
      },
    ],
  },
  {
    title: 'managers of different versions',
    versions: { 'example.com/v1': schema3, 'example.com/v2': schema3 },
    steps: [
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { n: 1 } },
        manager: 'alice',
        owners: { 'Apply alice example.com/v1': { 'f:spec': { 'f:n': {} } } },
      },
      {
        apply: { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'a' }, spec: { o: { a: 1 } } },
        manager: 'bob',
        owners: {
          'Apply alice example.com/v1': { 'f:spec': { 'f:n': {} } },
          'Apply bob example.com/v2': { 'f:spec': { 'f:o': { 'f:a': {} } } },
        },
      },
      {
        apply: { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'a' }, spec: { n: 2 } },
        manager: 'bob',
        error: 'Apply failed with 1 conflict: conflict with "alice": .spec.n',
      },
      {
        apply: { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'a' }, spec: { n: 1 } },
        manager: 'alice',
        owners: {
          'Apply alice example.com/v2': { 'f:spec': { 'f:n': {} } },
          'Apply bob example.com/v2': { 'f:spec': { 'f:o': { 'f:a': {} } } },
        },
      },
    ],
  },
  {
    title: 'labels and annotations of two appliers',
    versions: { 'example.com/v1': schema1 },
    steps: [
      {
        apply: {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          metadata: { name: 'a', labels: { a: '1' }, annotations: { 'x/y': 'z' } },
          spec: { n: 1 },
        },
        manager: 'alice',
        owners: {
          'Apply alice example.com/v1': {
            'f:metadata': { 'f:annotations': { 'f:x/y': {} }, 'f:labels': { 'f:a': {} } },
            'f:spec': { 'f:n': {} },
          },
        },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', labels: { b: '2' } }, spec: {} },
        manager: 'bob',
        owners: {
          'Apply alice example.com/v1': {
            'f:metadata': { 'f:annotations': { 'f:x/y': {} }, 'f:labels': { 'f:a': {} } },
            'f:spec': { 'f:n': {} },
          },
          'Apply bob example.com/v1': { 'f:metadata': { 'f:labels': { 'f:b': {} } }, 'f:spec': {} },
        },
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', labels: { a: '2' } }, spec: {} },
        manager: 'bob',
        error: 'Apply failed with 1 conflict: conflict with "alice": .metadata.labels.a',
      },
      {
        apply: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { n: 1 } },
        manager: 'alice',
        owners: {
          'Apply alice example.com/v1': { 'f:spec': { 'f:n': {} } },
          'Apply bob example.com/v1': { 'f:metadata': { 'f:labels': { 'f:b': {} } }, 'f:spec': {} },
        },
      },
    ],
  },
]
