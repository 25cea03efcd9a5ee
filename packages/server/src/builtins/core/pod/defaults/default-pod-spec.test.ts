import { describe, expect, test } from 'vitest'
import type { PodLike, PodSpec } from '../pod-types.ts'
import { defaultPod, defaultPodSpec } from './default-pod-spec.ts'

describe('defaultPodSpec()', () => {
  test('fills the defaults of a minimal spec', () => {
    const spec: PodSpec = { containers: [{ name: 'c', image: 'nginx:1.25' }] }
    defaultPodSpec(spec)
    expect(spec).toEqual({
      containers: [
        {
          name: 'c',
          image: 'nginx:1.25',
          imagePullPolicy: 'IfNotPresent',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    })
  })

  test('is idempotent', () => {
    const spec: PodSpec = { containers: [{ name: 'c', image: 'nginx', livenessProbe: { grpc: { port: 1 } } }] }
    defaultPodSpec(spec)
    const once = structuredClone(spec)
    defaultPodSpec(spec)
    expect(spec).toEqual(once)
  })

  test('mirrors the deprecated service account', () => {
    const old: PodSpec = { serviceAccount: 'a' }
    defaultPodSpec(old)
    expect(old).toMatchObject({ serviceAccount: 'a', serviceAccountName: 'a' })
    const both: PodSpec = { serviceAccount: 'a', serviceAccountName: 'b' }
    defaultPodSpec(both)
    expect(both).toMatchObject({ serviceAccount: 'b', serviceAccountName: 'b' })
  })

  test('fills probes, ports and references to fields', () => {
    const spec: PodSpec = {
      containers: [
        {
          ports: [{ containerPort: 80 }],
          env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          readinessProbe: { httpGet: { port: 80 } },
        },
      ],
    }
    defaultPodSpec(spec)
    expect(spec.containers?.[0]).toMatchObject({
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }],
      readinessProbe: {
        httpGet: { path: '/', port: 80, scheme: 'HTTP' },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
    })
  })

  test.each([
    [{ name: 'v' }, { name: 'v', emptyDir: {} }],
    [{ hostPath: { path: '/x' } }, { hostPath: { path: '/x', type: '' } }],
    [{ secret: { secretName: 's' } }, { secret: { secretName: 's', defaultMode: 420 } }],
    [
      { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }] } },
    ],
    [{ image: { reference: 'a:1' } }, { image: { reference: 'a:1', pullPolicy: 'IfNotPresent' } }],
    [{ rbd: { image: 'i' } }, { rbd: { image: 'i', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } }],
  ])('fills the volume %j', (given, filled) => {
    const spec: PodSpec = { volumes: [given] }
    defaultPodSpec(spec)
    expect(spec.volumes?.[0]).toEqual(filled)
  })
})

describe('defaultPod()', () => {
  test('defaults requests to limits, and host ports to container ports in the host network', () => {
    const pod: PodLike = {
      spec: {
        hostNetwork: true,
        containers: [
          {
            resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '0.5' } },
            ports: [{ containerPort: 80 }],
          },
        ],
      },
    }
    defaultPod(pod)
    expect(pod.spec?.enableServiceLinks).toBe(true)
    expect(pod.spec?.containers?.[0]).toMatchObject({
      resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m', memory: '1Gi' } },
      ports: [{ containerPort: 80, hostPort: 80 }],
    })
  })

  test('defaults the requests of the pod as a whole to those of its containers, then to its limits', () => {
    const pod: PodLike = {
      spec: {
        resources: { limits: { cpu: '4', memory: '4Gi' } },
        containers: [{ resources: { requests: { cpu: '1' } } }, { resources: { requests: { cpu: '500m' } } }],
      },
    }
    defaultPod(pod)
    expect(pod.spec?.resources?.requests).toEqual({ cpu: '1500m', memory: '4Gi' })
  })
})
