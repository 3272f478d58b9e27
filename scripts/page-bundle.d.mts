export function pageBundle(path: string): string | undefined;
