import { Pod, Service } from 'kubewright/k8s'
import { instanceName, type Site } from './site.ts'
import type { SqlDatabase } from './sql-database.ts'

const databaseLabel = 'sql.example.com/database'
const ordinalLabel = 'sql.example.com/ordinal'

const labelsOf = ({ metadata }: SqlDatabase, ordinal: number): Record<string, string> => ({
  [databaseLabel]: metadata.name,
  [ordinalLabel]: String(ordinal),
})

/** The ordinal of the instance that a pod runs. */
export const ordinalOf = ({ metadata }: Pod): number => Number(metadata.labels?.[ordinalLabel])

/**
 * The Service that gives one instance its DNS name. It publishes instances that are not ready, because they must be
 * reachable to get data.
 */
export const instanceServiceFor = (database: SqlDatabase, ordinal: number) =>
  Service({
    metadata: { name: instanceName(database.metadata, ordinal), labels: labelsOf(database, ordinal) },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: labelsOf(database, ordinal),
      ports: [{ name: 'sql', port: 5433, targetPort: 'sql' }],
    },
  })

/** The Service for clients. It selects the primary. */
export const primaryServiceFor = (database: SqlDatabase, ordinal: number) =>
  Service({
    metadata: { name: `${database.metadata.name}-primary`, labels: { [databaseLabel]: database.metadata.name } },
    spec: { selector: labelsOf(database, ordinal), ports: [{ name: 'sql', port: 5433, targetPort: 'sql' }] },
  })

export const podFor = (database: SqlDatabase, ordinal: number, site: Site) =>
  Pod({
    metadata: {
      name: instanceName(database.metadata, ordinal),
      labels: labelsOf(database, ordinal),
      annotations: site.podAnnotations,
    },
    spec: {
      // The data survives a restart of the container, but not of the pod.
      restartPolicy: 'Always',
      containers: [
        {
          name: 'database',
          image: database.spec.image,
          command: [...site.command],
          ports: [{ name: 'sql', containerPort: site.port }],
          volumeMounts: [{ name: 'data', mountPath: '/var/lib/log-store' }],
        },
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  })
