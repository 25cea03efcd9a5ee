// The fields of the internal Go types of the core group in declaration order, for error messages that print objects in this form.
// Each entry is the Go name, the v1 field if its name differs in more than case, and the type: s string, n number, b bool, q
// quantity, l label selector, * null when absent, {} an object, or a type of this table by value, by pointer (*T) or as a list
// ([]T). +T embeds T. Facts from the type declarations of Kubernetes v1.35 (pkg/apis/core/types.go).
export const goStructs: Readonly<Record<string, string>> = {
  AWSElasticBlockStoreVolumeSource: 'VolumeID:s FSType=fsType:s Partition:n ReadOnly:b',
  Affinity: 'NodeAffinity:*NodeAffinity PodAffinity:*PodAffinity PodAntiAffinity:*PodAntiAffinity',
  AppArmorProfile: 'Type:s LocalhostProfile:*',
  AzureDiskVolumeSource: 'DiskName:s DataDiskURI=diskURI:s CachingMode:* FSType=fsType:* ReadOnly:* Kind:*',
  AzureFilePersistentVolumeSource: 'SecretName:s ShareName:s ReadOnly:b SecretNamespace:*',
  AzureFileVolumeSource: 'SecretName:s ShareName:s ReadOnly:b',
  CSIPersistentVolumeSource:
    'Driver:s VolumeHandle:s ReadOnly:b FSType=fsType:s VolumeAttributes:* ControllerPublishSecretRef:*SecretReference NodeStageSecretRef:*SecretReference NodePublishSecretRef:*SecretReference ControllerExpandSecretRef:*SecretReference NodeExpandSecretRef:*SecretReference',
  CSIVolumeSource: 'Driver:s ReadOnly:* FSType=fsType:* VolumeAttributes:* NodePublishSecretRef:*LocalObjectReference',
  Capabilities: 'Add:* Drop:*',
  CephFSPersistentVolumeSource: 'Monitors:* Path:s User:s SecretFile:s SecretRef:*SecretReference ReadOnly:b',
  CephFSVolumeSource: 'Monitors:* Path:s User:s SecretFile:s SecretRef:*LocalObjectReference ReadOnly:b',
  CinderPersistentVolumeSource: 'VolumeID:s FSType=fsType:s ReadOnly:b SecretRef:*SecretReference',
  CinderVolumeSource: 'VolumeID:s FSType=fsType:s ReadOnly:b SecretRef:*LocalObjectReference',
  ClientIPConfig: 'TimeoutSeconds:*',
  ClusterTrustBundleProjection: 'Name:* SignerName:* LabelSelector:l Optional:* Path:s',
  ConfigMapEnvSource: '+LocalObjectReference Optional:*',
  ConfigMapKeySelector: '+LocalObjectReference Key:s Optional:*',
  ConfigMapProjection: '+LocalObjectReference Items:[]KeyToPath Optional:*',
  ConfigMapVolumeSource: '+LocalObjectReference Items:[]KeyToPath DefaultMode:* Optional:*',
  Container:
    'Name:s Image:s Command:* Args:* WorkingDir:s Ports:[]ContainerPort EnvFrom:[]EnvFromSource Env:[]EnvVar Resources:ResourceRequirements ResizePolicy:[]ContainerResizePolicy RestartPolicy:* RestartPolicyRules:[]ContainerRestartRule VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice LivenessProbe:*Probe ReadinessProbe:*Probe StartupProbe:*Probe Lifecycle:*Lifecycle TerminationMessagePath:s TerminationMessagePolicy:s ImagePullPolicy:s SecurityContext:*SecurityContext Stdin:b StdinOnce:b TTY=tty:b',
  ContainerPort: 'Name:s HostPort:n ContainerPort:n Protocol:s HostIP:s',
  ContainerResizePolicy: 'ResourceName:s RestartPolicy:s',
  ContainerRestartRule: 'Action:s ExitCodes:*ContainerRestartRuleOnExitCodes',
  ContainerRestartRuleOnExitCodes: 'Operator:s Values:*',
  DownwardAPIProjection: 'Items:[]DownwardAPIVolumeFile',
  DownwardAPIVolumeFile: 'Path:s FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector Mode:*',
  DownwardAPIVolumeSource: 'Items:[]DownwardAPIVolumeFile DefaultMode:*',
  EmptyDirVolumeSource: 'Medium:s SizeLimit:*',
  EndpointAddress: 'IP=ip:s Hostname:s NodeName:* TargetRef:*ObjectReference',
  EndpointPort: 'Name:s Port:n Protocol:s AppProtocol:*',
  EndpointSubset: 'Addresses:[]EndpointAddress NotReadyAddresses:[]EndpointAddress Ports:[]EndpointPort',
  EnvFromSource: 'Prefix:s ConfigMapRef:*ConfigMapEnvSource SecretRef:*SecretEnvSource',
  EnvVar: 'Name:s Value:s ValueFrom:*EnvVarSource',
  EnvVarSource:
    'FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector ConfigMapKeyRef:*ConfigMapKeySelector SecretKeyRef:*SecretKeySelector FileKeyRef:*FileKeySelector',
  EphemeralContainer: '+EphemeralContainerCommon TargetContainerName:s',
  EphemeralContainerCommon:
    'Name:s Image:s Command:* Args:* WorkingDir:s Ports:[]ContainerPort EnvFrom:[]EnvFromSource Env:[]EnvVar Resources:ResourceRequirements ResizePolicy:[]ContainerResizePolicy RestartPolicy:* RestartPolicyRules:[]ContainerRestartRule VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice LivenessProbe:*Probe ReadinessProbe:*Probe StartupProbe:*Probe Lifecycle:*Lifecycle TerminationMessagePath:s TerminationMessagePolicy:s ImagePullPolicy:s SecurityContext:*SecurityContext Stdin:b StdinOnce:b TTY=tty:b',
  EphemeralVolumeSource: 'VolumeClaimTemplate:*PersistentVolumeClaimTemplate',
  EventSource: 'Component:s Host:s',
  ExecAction: 'Command:*',
  FCVolumeSource: 'TargetWWNs:* Lun:* FSType=fsType:s ReadOnly:b WWIDs=wwids:*',
  FileKeySelector: 'VolumeName:s Path:s Key:s Optional:*',
  FlexPersistentVolumeSource: 'Driver:s FSType=fsType:s SecretRef:*SecretReference ReadOnly:b Options:*',
  FlexVolumeSource: 'Driver:s FSType=fsType:s SecretRef:*LocalObjectReference ReadOnly:b Options:*',
  FlockerVolumeSource: 'DatasetName:s DatasetUUID:s',
  GCEPersistentDiskVolumeSource: 'PDName=pdName:s FSType=fsType:s Partition:n ReadOnly:b',
  GRPCAction: 'Port:n Service:*',
  GitRepoVolumeSource: 'Repository:s Revision:s Directory:s',
  GlusterfsPersistentVolumeSource: 'EndpointsName=endpoints:s Path:s ReadOnly:b EndpointsNamespace:*',
  GlusterfsVolumeSource: 'EndpointsName=endpoints:s Path:s ReadOnly:b',
  HTTPGetAction: 'Path:s Port:n Host:s Scheme:s HTTPHeaders=httpHeaders:[]HTTPHeader',
  HTTPHeader: 'Name:s Value:s',
  HostAlias: 'IP=ip:s Hostnames:*',
  HostPathVolumeSource: 'Path:s Type:*',
  ISCSIPersistentVolumeSource:
    'TargetPortal:s IQN=iqn:s Lun:n ISCSIInterface=iscsiInterface:s FSType=fsType:s ReadOnly:b Portals:* DiscoveryCHAPAuth=chapAuthDiscovery:b SessionCHAPAuth=chapAuthSession:b SecretRef:*SecretReference InitiatorName:*',
  ISCSIVolumeSource:
    'TargetPortal:s IQN=iqn:s Lun:n ISCSIInterface=iscsiInterface:s FSType=fsType:s ReadOnly:b Portals:* DiscoveryCHAPAuth=chapAuthDiscovery:b SessionCHAPAuth=chapAuthSession:b SecretRef:*LocalObjectReference InitiatorName:*',
  ImageVolumeSource: 'Reference:s PullPolicy:s',
  KeyToPath: 'Key:s Path:s Mode:*',
  Lifecycle: 'PostStart:*LifecycleHandler PreStop:*LifecycleHandler StopSignal:*',
  LifecycleHandler:
    'Exec:*ExecAction HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:*TCPSocketAction Sleep:*SleepAction',
  LoadBalancerIngress: 'IP=ip:s Hostname:s IPMode=ipMode:* Ports:[]PortStatus',
  LocalObjectReference: 'Name:s',
  LocalVolumeSource: 'Path:s FSType=fsType:*',
  ModifyVolumeStatus: 'TargetVolumeAttributesClassName:s Status:s',
  NFSVolumeSource: 'Server:s Path:s ReadOnly:b',
  NodeAddress: 'Type:s Address:s',
  NodeAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution:*NodeSelector PreferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm',
  NodeSelector: 'NodeSelectorTerms:[]NodeSelectorTerm',
  NodeSelectorRequirement: 'Key:s Operator:s Values:*',
  NodeSelectorTerm: 'MatchExpressions:[]NodeSelectorRequirement MatchFields:[]NodeSelectorRequirement',
  ObjectFieldSelector: 'APIVersion=apiVersion:s FieldPath:s',
  ObjectReference: 'Kind:s Namespace:s Name:s UID=uid:s APIVersion=apiVersion:s ResourceVersion:s FieldPath:s',
  PersistentVolumeClaim: '+ObjectMeta Spec:PersistentVolumeClaimSpec Status:PersistentVolumeClaimStatus',
  PersistentVolumeClaimCondition: 'Type:s Status:s LastProbeTime:* LastTransitionTime:* Reason:s Message:s',
  PersistentVolumeClaimSpec:
    'AccessModes:* Selector:l Resources:VolumeResourceRequirements VolumeName:s StorageClassName:* VolumeMode:* DataSource:*TypedLocalObjectReference DataSourceRef:*TypedObjectReference VolumeAttributesClassName:*',
  PersistentVolumeClaimStatus:
    'Phase:s AccessModes:* Capacity:* Conditions:[]PersistentVolumeClaimCondition AllocatedResources:* AllocatedResourceStatuses:* CurrentVolumeAttributesClassName:* ModifyVolumeStatus:*ModifyVolumeStatus',
  PersistentVolumeClaimTemplate: '+ObjectMeta Spec:PersistentVolumeClaimSpec',
  PersistentVolumeClaimVolumeSource: 'ClaimName:s ReadOnly:b',
  PersistentVolumeSource:
    'GCEPersistentDisk=gcePersistentDisk:*GCEPersistentDiskVolumeSource AWSElasticBlockStore=awsElasticBlockStore:*AWSElasticBlockStoreVolumeSource HostPath:*HostPathVolumeSource Glusterfs:*GlusterfsPersistentVolumeSource NFS=nfs:*NFSVolumeSource RBD=rbd:*RBDPersistentVolumeSource Quobyte:*QuobyteVolumeSource ISCSI=iscsi:*ISCSIPersistentVolumeSource FlexVolume:*FlexPersistentVolumeSource Cinder:*CinderPersistentVolumeSource CephFS=cephfs:*CephFSPersistentVolumeSource FC=fc:*FCVolumeSource Flocker:*FlockerVolumeSource AzureFile:*AzureFilePersistentVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource PortworxVolume:*PortworxVolumeSource ScaleIO:*ScaleIOPersistentVolumeSource Local:*LocalVolumeSource StorageOS=storageos:*StorageOSPersistentVolumeSource CSI=csi:*CSIPersistentVolumeSource',
  PersistentVolumeSpec:
    'Capacity:* +PersistentVolumeSource AccessModes:* ClaimRef:*ObjectReference PersistentVolumeReclaimPolicy:s StorageClassName:s MountOptions:* VolumeMode:* NodeAffinity:*VolumeNodeAffinity VolumeAttributesClassName:*',
  PhotonPersistentDiskVolumeSource: 'PdID:s FSType=fsType:s',
  PodAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm',
  PodAffinityTerm:
    'LabelSelector:l Namespaces:* TopologyKey:s NamespaceSelector:l MatchLabelKeys:* MismatchLabelKeys:*',
  PodAntiAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm',
  PodCertificateProjection:
    'SignerName:s KeyType:s MaxExpirationSeconds:* CredentialBundlePath:s KeyPath:s CertificateChainPath:s UserAnnotations:*',
  PodDNSConfig: 'Nameservers:* Searches:* Options:[]PodDNSConfigOption',
  PodDNSConfigOption: 'Name:s Value:*',
  PodOS: 'Name:s',
  PodReadinessGate: 'ConditionType:s',
  PodResourceClaim: 'Name:s ResourceClaimName:* ResourceClaimTemplateName:*',
  PodSchedulingGate: 'Name:s',
  PodSecurityContext:
    'HostNetwork:b HostPID:b HostIPC:b ShareProcessNamespace:* HostUsers:* SELinuxOptions=seLinuxOptions:*SELinuxOptions WindowsOptions:*WindowsSecurityContextOptions RunAsUser:* RunAsGroup:* RunAsNonRoot:* SupplementalGroups:* SupplementalGroupsPolicy:* FSGroup=fsGroup:* FSGroupChangePolicy=fsGroupChangePolicy:* Sysctls:[]Sysctl SeccompProfile:*SeccompProfile AppArmorProfile:*AppArmorProfile SELinuxChangePolicy=seLinuxChangePolicy:*',
  PodSpec:
    'Volumes:[]Volume InitContainers:[]Container Containers:[]Container EphemeralContainers:[]EphemeralContainer RestartPolicy:s TerminationGracePeriodSeconds:* ActiveDeadlineSeconds:* DNSPolicy=dnsPolicy:s NodeSelector:* ServiceAccountName:s AutomountServiceAccountToken:* NodeName:s SecurityContext:*PodSecurityContext ImagePullSecrets:[]LocalObjectReference Hostname:s Subdomain:s SetHostnameAsFQDN:* Affinity:*Affinity SchedulerName:s Tolerations:[]Toleration HostAliases:[]HostAlias PriorityClassName:s Priority:* PreemptionPolicy:* DNSConfig=dnsConfig:*PodDNSConfig ReadinessGates:[]PodReadinessGate RuntimeClassName:* Overhead:* EnableServiceLinks:* TopologySpreadConstraints:[]TopologySpreadConstraint OS=os:*PodOS SchedulingGates:[]PodSchedulingGate ResourceClaims:[]PodResourceClaim Resources:*ResourceRequirements HostnameOverride:* WorkloadRef:*WorkloadReference',
  PodTemplateSpec: '+ObjectMeta Spec:PodSpec',
  PortStatus: 'Port:n Protocol:s Error:*',
  PortworxVolumeSource: 'VolumeID:s FSType=fsType:s ReadOnly:b',
  PreferredSchedulingTerm: 'Weight:n Preference:NodeSelectorTerm',
  Probe:
    '+ProbeHandler InitialDelaySeconds:n TimeoutSeconds:n PeriodSeconds:n SuccessThreshold:n FailureThreshold:n TerminationGracePeriodSeconds:*',
  ProbeHandler:
    'Exec:*ExecAction HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:*TCPSocketAction GRPC=grpc:*GRPCAction',
  ProjectedVolumeSource: 'Sources:[]VolumeProjection DefaultMode:*',
  QuobyteVolumeSource: 'Registry:s Volume:s ReadOnly:b User:s Group:s Tenant:s',
  RBDPersistentVolumeSource:
    'CephMonitors=monitors:* RBDImage=image:s FSType=fsType:s RBDPool=pool:s RadosUser=user:s Keyring:s SecretRef:*SecretReference ReadOnly:b',
  RBDVolumeSource:
    'CephMonitors=monitors:* RBDImage=image:s FSType=fsType:s RBDPool=pool:s RadosUser=user:s Keyring:s SecretRef:*LocalObjectReference ReadOnly:b',
  ResourceClaim: 'Name:s Request:s',
  ResourceFieldSelector: 'ContainerName:s Resource:s Divisor:q',
  ResourceRequirements: 'Limits:* Requests:* Claims:[]ResourceClaim',
  SELinuxOptions: 'User:s Role:s Type:s Level:s',
  ScaleIOPersistentVolumeSource:
    'Gateway:s System:s SecretRef:*SecretReference SSLEnabled=sslEnabled:b ProtectionDomain:s StoragePool:s StorageMode:s VolumeName:s FSType=fsType:s ReadOnly:b',
  ScaleIOVolumeSource:
    'Gateway:s System:s SecretRef:*LocalObjectReference SSLEnabled=sslEnabled:b ProtectionDomain:s StoragePool:s StorageMode:s VolumeName:s FSType=fsType:s ReadOnly:b',
  ScopeSelector: 'MatchExpressions:[]ScopedResourceSelectorRequirement',
  ScopedResourceSelectorRequirement: 'ScopeName:s Operator:s Values:*',
  SeccompProfile: 'Type:s LocalhostProfile:*',
  SecretEnvSource: '+LocalObjectReference Optional:*',
  SecretKeySelector: '+LocalObjectReference Key:s Optional:*',
  SecretProjection: '+LocalObjectReference Items:[]KeyToPath Optional:*',
  SecretReference: 'Name:s Namespace:s',
  SecretVolumeSource: 'SecretName:s Items:[]KeyToPath DefaultMode:* Optional:*',
  SecurityContext:
    'Capabilities:*Capabilities Privileged:* SELinuxOptions=seLinuxOptions:*SELinuxOptions WindowsOptions:*WindowsSecurityContextOptions RunAsUser:* RunAsGroup:* RunAsNonRoot:* ReadOnlyRootFilesystem:* AllowPrivilegeEscalation:* ProcMount:* SeccompProfile:*SeccompProfile AppArmorProfile:*AppArmorProfile',
  ServiceAccountTokenProjection: 'Audience:s ExpirationSeconds:n Path:s',
  ServicePort: 'Name:s Protocol:s AppProtocol:* Port:n TargetPort:n NodePort:n',
  ServiceSpec:
    'Type:s Ports:[]ServicePort Selector:* ClusterIP:s ClusterIPs:* IPFamilies=ipFamilies:* IPFamilyPolicy=ipFamilyPolicy:* ExternalName:s ExternalIPs:* LoadBalancerIP:s SessionAffinity:s SessionAffinityConfig:*SessionAffinityConfig LoadBalancerSourceRanges:* ExternalTrafficPolicy:s HealthCheckNodePort:n PublishNotReadyAddresses:b AllocateLoadBalancerNodePorts:* LoadBalancerClass:* InternalTrafficPolicy:* TrafficDistribution:*',
  SessionAffinityConfig: 'ClientIP:*ClientIPConfig',
  SleepAction: 'Seconds:n',
  StorageOSPersistentVolumeSource:
    'VolumeName:s VolumeNamespace:s FSType=fsType:s ReadOnly:b SecretRef:*ObjectReference',
  StorageOSVolumeSource: 'VolumeName:s VolumeNamespace:s FSType=fsType:s ReadOnly:b SecretRef:*LocalObjectReference',
  Sysctl: 'Name:s Value:s',
  TCPSocketAction: 'Port:n Host:s',
  Taint: 'Key:s Value:s Effect:s TimeAdded:*',
  Toleration: 'Key:s Operator:s Value:s Effect:s TolerationSeconds:*',
  TopologySpreadConstraint:
    'MaxSkew:n TopologyKey:s WhenUnsatisfiable:s LabelSelector:l MinDomains:* NodeAffinityPolicy:* NodeTaintsPolicy:* MatchLabelKeys:*',
  TypedLocalObjectReference: 'APIGroup=apiGroup:* Kind:s Name:s',
  TypedObjectReference: 'APIGroup=apiGroup:* Kind:s Name:s Namespace:*',
  Volume: 'Name:s +VolumeSource',
  VolumeDevice: 'Name:s DevicePath:s',
  VolumeMount: 'Name:s ReadOnly:b RecursiveReadOnly:* MountPath:s SubPath:s MountPropagation:* SubPathExpr:s',
  VolumeNodeAffinity: 'Required:*NodeSelector',
  VolumeProjection:
    'Secret:*SecretProjection DownwardAPI:*DownwardAPIProjection ConfigMap:*ConfigMapProjection ServiceAccountToken:*ServiceAccountTokenProjection ClusterTrustBundle:*ClusterTrustBundleProjection PodCertificate:*PodCertificateProjection',
  VolumeResourceRequirements: 'Limits:* Requests:*',
  VolumeSource:
    'HostPath:*HostPathVolumeSource EmptyDir:*EmptyDirVolumeSource GCEPersistentDisk=gcePersistentDisk:*GCEPersistentDiskVolumeSource AWSElasticBlockStore=awsElasticBlockStore:*AWSElasticBlockStoreVolumeSource GitRepo:*GitRepoVolumeSource Secret:*SecretVolumeSource NFS=nfs:*NFSVolumeSource ISCSI=iscsi:*ISCSIVolumeSource Glusterfs:*GlusterfsVolumeSource PersistentVolumeClaim:*PersistentVolumeClaimVolumeSource RBD=rbd:*RBDVolumeSource Quobyte:*QuobyteVolumeSource FlexVolume:*FlexVolumeSource Cinder:*CinderVolumeSource CephFS=cephfs:*CephFSVolumeSource Flocker:*FlockerVolumeSource DownwardAPI:*DownwardAPIVolumeSource FC=fc:*FCVolumeSource AzureFile:*AzureFileVolumeSource ConfigMap:*ConfigMapVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource Projected:*ProjectedVolumeSource PortworxVolume:*PortworxVolumeSource ScaleIO:*ScaleIOVolumeSource StorageOS=storageos:*StorageOSVolumeSource CSI=csi:*CSIVolumeSource Ephemeral:*EphemeralVolumeSource Image:*ImageVolumeSource',
  VsphereVirtualDiskVolumeSource: 'VolumePath:s FSType=fsType:s StoragePolicyName:s StoragePolicyID:s',
  WeightedPodAffinityTerm: 'Weight:n PodAffinityTerm:PodAffinityTerm',
  WindowsSecurityContextOptions:
    'GMSACredentialSpecName=gmsaCredentialSpecName:* GMSACredentialSpec=gmsaCredentialSpec:* RunAsUserName:* HostProcess:*',
  WorkloadReference: 'Name:s PodGroup:s PodGroupReplicaKey:s',
  // The resource group (pkg/apis/resource/types.go).
  ResourceClaimSpec: 'Devices:DeviceClaim',
  ResourceClaimTemplateSpec: '+ObjectMeta Spec:ResourceClaimSpec',
  DeviceClaim: 'Requests:[]DeviceRequest Constraints:[]DeviceConstraint Config:[]DeviceClaimConfiguration',
  DeviceRequest: 'Name:s Exactly:*ExactDeviceRequest FirstAvailable:[]DeviceSubRequest',
  ExactDeviceRequest:
    'DeviceClassName:s Selectors:[]DeviceSelector AllocationMode:s Count:n AdminAccess:* Tolerations:[]DeviceToleration Capacity:*CapacityRequirements',
  DeviceSubRequest:
    'Name:s DeviceClassName:s Selectors:[]DeviceSelector AllocationMode:s Count:n Tolerations:[]DeviceToleration Capacity:*CapacityRequirements',
  DeviceConstraint: 'Requests:* MatchAttribute:* DistinctAttribute:*',
  DeviceClaimConfiguration: 'Requests:* Opaque:*OpaqueDeviceConfiguration',
  DeviceAllocationConfiguration: 'Source:s Requests:* Opaque:*OpaqueDeviceConfiguration',
  OpaqueDeviceConfiguration: 'Driver:s Parameters:*',
  DeviceSelector: 'CEL=cel:*CELDeviceSelector',
  CELDeviceSelector: 'Expression:s',
  DeviceToleration: 'Key:s Operator:s Value:s Effect:s TolerationSeconds:*',
  CapacityRequirements: 'Requests:*',
  AllocationResult: 'Devices:DeviceAllocationResult NodeSelector:*NodeSelector AllocationTimestamp:*',
  DeviceAllocationResult: 'Results:[]DeviceRequestAllocationResult Config:[]DeviceAllocationConfiguration',
  DeviceRequestAllocationResult:
    'Request:s Driver:s Pool:s Device:s AdminAccess:* Tolerations:[]DeviceToleration BindingConditions:* BindingFailureConditions:* ShareID:* ConsumedCapacity:*',
}
