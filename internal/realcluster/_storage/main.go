// Command storage is rclone with what serves a directory as object storage by the protocol of S3,
// and nothing else: "storage serve s3 DIRECTORY".
package main

import (
	_ "github.com/rclone/rclone/backend/local"
	"github.com/rclone/rclone/cmd"
	_ "github.com/rclone/rclone/cmd/serve"
	_ "github.com/rclone/rclone/cmd/serve/s3"
)

func main() { cmd.Main() }
