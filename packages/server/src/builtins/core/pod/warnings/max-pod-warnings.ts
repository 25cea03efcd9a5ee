/**
 * The maximum number of warnings about pairs of ports or of paths. A response shows 4,096 characters of warnings, so it never has room
 * for more.
 */
export const maxPodWarnings = 4096
