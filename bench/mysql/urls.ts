/** Each client package insists on a scheme of its own. */
export function mysqlUrl(url: string): string {
  return url.replace(/^\w+:/, 'mysql:');
}

export function mariadbUrl(url: string): string {
  return url.replace(/^\w+:/, 'mariadb:');
}
