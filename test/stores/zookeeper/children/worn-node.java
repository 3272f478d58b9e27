import java.io.File;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/**
 * Writes the snapshot with which a server starts, into its data folder: a node that was set so
 * often that it has this version. Arguments: the folder, the path with those above it, each once,
 * and the version of the last.
 */
class WornNode {
  public static void main(String[] args) throws Exception {
    DataTree tree = new DataTree();
    int last = args.length - 2;
    for (int at = 1; at <= last; at++) {
      long now = System.currentTimeMillis();
      tree.createNode(args[at], new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, 0, -1, at, now);
      tree.lastProcessedZxid = at;
    }
    tree.getNode(args[last]).stat.setVersion(Integer.parseInt(args[last + 1]));
    File folder = new File(args[0]);
    new FileTxnSnapLog(folder, folder).save(tree, new ConcurrentHashMap<>(), false);
  }
}
