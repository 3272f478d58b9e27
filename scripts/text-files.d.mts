export function textFile(path: string): string | undefined;
export function stripped(path: string, text: string): string;
