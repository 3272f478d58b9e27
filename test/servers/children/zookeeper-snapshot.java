import java.io.File;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.EphemeralType;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/**
 * Writes the snapshot with which a server starts, into its data folder: nodes, each with the number
 * that its next sequential child gets. Arguments: the folder, then a path and a number for each
 * node. They are containers, as the directories of locks are; those above them are not.
 */
class ZookeeperSnapshot {
  public static void main(String[] args) throws Exception {
    DataTree tree = new DataTree();
    for (int at = 1; at < args.length; at += 2) {
      String path = args[at];
      for (int end = path.indexOf('/', 1); end > 0; end = path.indexOf('/', end + 1)) {
        if (tree.getNode(path.substring(0, end)) == null) create(tree, path.substring(0, end), 0);
      }
      create(tree, path, EphemeralType.CONTAINER_EPHEMERAL_OWNER);
      tree.getNode(path).stat.setCversion(Integer.parseInt(args[at + 1]));
    }
    File folder = new File(args[0]);
    new FileTxnSnapLog(folder, folder).save(tree, new ConcurrentHashMap<>(), false);
  }

  private static void create(DataTree tree, String path, long kind) throws Exception {
    long zxid = tree.lastProcessedZxid + 1;
    long now = System.currentTimeMillis();
    tree.createNode(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, kind, -1, zxid, now);
    tree.lastProcessedZxid = zxid;
  }
}
