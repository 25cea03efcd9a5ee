/** The version of Kubewright. All its packages share it. */
export const kubewrightVersion = '0.1.0'

/** The development dependencies of a new project, in the versions that Kubewright itself is tested with. */
export const pinnedVersions: Readonly<Record<string, string>> = {
  '@types/node': '20.19.43',
  tsx: '4.23.15',
  typescript: '7.0.2',
  vitest: '4.1.12',
}

/** The release line of Node in images. */
export const nodeRelease = '24'
