import type { KeyController } from '@kubewright/runtime'
import { horizontalAutoscaler } from './autoscaling/horizontal-autoscaler.ts'
import { signingRequestApprover, signingRequestCleaner } from './certificates/signing-request-controllers.ts'
import { cronJobController } from './cron-job/cron-job-controller.ts'
import { daemonSetController } from './daemon-set/daemon-set-controller.ts'
import { deploymentController } from './deployment/deployment-controller.ts'
import { disruptionController, staleDisruptionController } from './disruption/disruption-controller.ts'
import { endpointSliceController } from './endpoints/endpoint-slice-controller.ts'
import { endpointsController } from './endpoints/endpoints-controller.ts'
import { endpointSliceMirroring } from './endpoints/mirroring-controller.ts'
import { garbageCollector } from './garbage-collector/garbage-collector.ts'
import { jobController } from './job/job-controller.ts'
import { ttlAfterFinishedController } from './job/ttl-after-finished-controller.ts'
import { namespaceController } from './namespace/namespace-controller.ts'
import { nodeLifecycleController } from './node-lifecycle/node-lifecycle-controller.ts'
import { taintEvictionController } from './node-lifecycle/taint-eviction-controller.ts'
import { podGarbageCollector } from './pod-gc/pod-gc-controller.ts'
import { replicaSetController, replicationController } from './replica-set/replica-set-controller.ts'
import { serviceAccountController } from './service-account/service-account-controller.ts'
import { serviceCidrController } from './service-cidr/service-cidr-controller.ts'
import { statefulSetController } from './stateful-set/stateful-set-controller.ts'
import { ephemeralVolumeController } from './volume/ephemeral-volume-controller.ts'
import { attributesClassProtection, claimProtection, volumeProtection } from './volume/protection-controllers.ts'
import { volumeBinder } from './volume/volume-binder.ts'

/** A built-in controller that can be enabled and disabled. */
export interface BuiltinController {
  /** The name in kube-controller-manager's `--controllers`. */
  readonly name: string
  readonly controllers: readonly KeyController[]
}

const single = (controller: KeyController): BuiltinController => ({ name: controller.name, controllers: [controller] })

/** All built-in controllers, with the names that kube-controller-manager uses. */
export const builtinControllers: readonly BuiltinController[] = /* @__PURE__ */ Object.freeze([
  single(deploymentController),
  single(replicaSetController),
  single(replicationController),
  single(statefulSetController),
  single(daemonSetController),
  single(jobController),
  single(cronJobController),
  single(ttlAfterFinishedController),
  single(nodeLifecycleController),
  single(taintEvictionController),
  single(podGarbageCollector()),
  single(garbageCollector()),
  single(namespaceController),
  single(serviceAccountController),
  { name: disruptionController.name, controllers: [disruptionController, staleDisruptionController] },
  single(endpointsController),
  single(endpointSliceController),
  single(endpointSliceMirroring),
  single(horizontalAutoscaler),
  single(signingRequestApprover),
  single(signingRequestCleaner),
  single(volumeBinder),
  single(ephemeralVolumeController),
  single(claimProtection),
  single(volumeProtection),
  single(attributesClassProtection),
  single(serviceCidrController),
])
